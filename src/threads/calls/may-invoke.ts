// Whether code may run a tool at once. What guards a call of a model guards this one too: the capability that it takes, and
// the policy of the day. Code cannot wait for a person, so what takes a person's yes has to be queued.
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import * as actionPolicy from "../../contracts/tools/action-policy.ts";
import { refusalOf } from "../../contracts/tools/capability-guard.ts";
import { asksForPolicy, callPolicy } from "../../loop/policies.ts";
import { runOptions } from "../agent.ts";
import type { Cast } from "../cast/cast.ts";
import type { Host } from "../host.ts";
import type { Tool } from "../tool.ts";
import { trustOf } from "../trust.ts";
import type { InvocationContext } from "./invocation-context.ts";

type Asked = { readonly host: Host; readonly cast: Cast; readonly tool: Tool };

/** Why it may not, in words; undefined when it may. A policy that cannot be told forbids. */
export async function invocationRefusal(
  { host, cast, tool }: Asked,
  parameters: JsonMap,
  { subject, context }: InvocationContext,
): Promise<string | undefined> {
  const own = runOptions(cast.agent);
  const { declaration } = tool;
  const isPoliced =
    actionPolicy.declaresPolicy(declaration) || actionPolicy.isConfigured(context) || asksForPolicy(own);
  if (declaration.required_capability === undefined && !isPoliced) return undefined;
  const options = { ...own, ...trustOf(host, { subject }, cast, own) };
  const attempt = { tool_name: tool.name, parameters: {} };
  const denied = await refusalOf(attempt, declaration, context, options);
  if (denied) return String(denied.error);
  if (!isPoliced) return undefined;
  const about = snapshotMap({ ...context, tool_name: tool.name, tool_def: declaration, parameters });
  const { policy } = await callPolicy(about, { [tool.name]: declaration }, options);
  if (policy === "direct") return undefined;
  return policy === "preview"
    ? `The tool '${tool.name}' takes a person's yes: queue it, and the thread waits for that.`
    : `The tool '${tool.name}' is not allowed.`;
}
