// What a call means for the session of an agent with sides: it may end it, fail to, or end the turn of its side.
import { errorSignature } from "../contracts/standard/repeated-error.ts";
import { canonicalName } from "../contracts/tools/declaration.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import type { Mark, Repeated } from "./records.ts";
import type { Step } from "./step.ts";

type Meaning = { readonly mark?: Mark; readonly repeated?: Repeated | null };

/** Nothing where there are no sides; what a prompt calls that is used as a tool is no call of the side. */
export function meaningOf(step: Step, result: ToolResult): Meaning {
  const { config, state } = step;
  if (!config.sides || !state.standing || state.frames.length > 0) return {};
  const mark = markOf(step, result.success);
  const repeated = repetitionOf(state.standing.repeated, result, config.salt);
  return { ...(mark && { mark }), ...(repeated !== state.standing.repeated && { repeated }) };
}

function markOf({ call, config }: Step, success: boolean): Mark | undefined {
  const { sides, tools } = config;
  const name = canonicalName(call.name, tools);
  if (name === sides?.sessionFail) return success ? "session_fail" : "lifecycle_failed";
  if (name === sides?.sessionStop) return success ? "session_stop" : "lifecycle_failed";
  return name === sides?.stopTool ? "stop_tool" : undefined;
}

function repetitionOf(before: Repeated | null, result: ToolResult, salt: string): Repeated | null {
  if (result.success) return null;
  const signature = errorSignature(result.error, salt);
  return { signature, count: before?.signature === signature ? before.count + 1 : 1 };
}
