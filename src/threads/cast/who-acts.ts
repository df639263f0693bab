// Who acts in a turn, what they may call, and the prompts that speak for calls: asked for by the machine, answered here.

import type { Write } from "../../backend/write.ts";
import * as message from "../../contracts/conversation/message.ts";
import { errorMessage } from "../../contracts/error.ts";
import type { Side } from "../../contracts/standard/side.ts";
import { startingSide } from "../../contracts/standard/stop-rules.ts";
import type { ToolCall } from "../../contracts/tools/call.ts";
import type { Inbox } from "../../loop/next.ts";
import { switchedOff } from "../calls/switched-off.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import { runState } from "../run-state.ts";
import { inWords } from "../schemas/in-words.ts";
import { messageAttachments } from "../state/message-attachments.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import { variablesOfState } from "../subagents/call-scope.ts";
import { hiddenTools } from "../subagents/subagent-tools.ts";
import type { ThreadRun } from "../thread-run.ts";
import { startOf } from "./init-payload.ts";

/** The side whose turn it is: at the beginning of a run whoever is spoken to, then whom the rules have named. */
export function actingSide(held: HeldThread, run: ThreadRun, { messages, calls }: Inbox): Side {
  const { state } = held;
  if (state?.standing && state.turn > 0) return state.standing.side;
  const { isDual, sides } = run.cast.agent;
  const first = startingSide(messages, isDual ? othersTurn(run) : "a");
  if (sides[first].backing.kind === "prompt") return first;
  // A person acts in his own time: whatever else there is to do is not left undone for that.
  const other = first === "a" ? "b" : "a";
  const isAsked = calls.length > 0 || messages.some((each) => startingSide([each], first) === other);
  return isAsked ? other : first;
}

/** Whoever has not spoken last. */
function othersTurn({ working }: ThreadRun): Side {
  const last = working.transcript.findLast(
    ({ type, role }) => type === "text" && (role === "user" || role === "assistant"),
  );
  return last?.role === "assistant" ? "b" : "a";
}

/**
 * The names of the tools that are there as things stand: children and flags come and go. `writes`: what the step before has
 * left behind, which is stored only with the request that shows the tools.
 */
export async function toolsThereAre(
  host: Host,
  held: HeldThread,
  run: ThreadRun,
  { allowed, writes }: { readonly allowed: readonly unknown[]; readonly writes: readonly Write[] },
): Promise<readonly unknown[]> {
  const { agent, side, relationships, others } = run.cast;
  const offered = allowed.filter((name) => typeof name !== "string" || !others.has(name));
  if (relationships.size === 0) return offered;
  const unstored = new KeptWrites({ hasRun: true });
  await unstored.write(...writes);
  const hidden = await hiddenTools(host, {
    ...{ agent, side, relationships: [...relationships.values()] },
    threadId: held.id,
    env: variablesOfState(runState(host, held, run, unstored)),
    writes,
  });
  return offered.filter((name) => typeof name !== "string" || !hidden.has(name));
}

type Entered =
  | { readonly ok: true; readonly prompt: string; readonly messages: readonly message.Message[] }
  | { readonly ok: false; readonly error: string };

/** Makes the prompt ready that a call stands for, unless it cannot be called like this. */
export async function enterPrompt(host: Host, held: HeldThread, run: ThreadRun, call: ToolCall): Promise<Entered> {
  const entering = run.cast.prompts.get(call.tool_name);
  if (!entering) return { ok: false, error: `There is no prompt "${call.tool_name}".` };
  const { prompt, uses } = entering;
  const off = await host.switches.findNow("tool", call.tool_name);
  if (off) return { ok: false, error: switchedOff(call.tool_name, off) };
  const checked = (await prompt.requiredSchema?.validate(call.parameters)) ?? { ok: true };
  if (!checked.ok) {
    return { ok: false, error: `The parameters of '${prompt.name}' are not valid: ${inWords(checked.problems)}` };
  }
  try {
    const messages = await firstMessages(host, held, run, call, uses);
    return { ok: true, prompt: prompt.name, messages };
  } catch (thrown) {
    return { ok: false, error: errorMessage(thrown) };
  }
}

async function firstMessages(
  host: Host,
  held: HeldThread,
  run: ThreadRun,
  call: ToolCall,
  uses: Parameters<typeof startOf>[1],
): Promise<readonly message.Message[]> {
  const buffer = new KeptWrites({ hasRun: true });
  const { message: words, attachments: paths } = await startOf(
    runState(host, held, run, buffer),
    uses,
    call.parameters,
  );
  if (words === undefined && paths.length === 0) return [];
  const { attachments } = await messageAttachments(host, { thread: held.thread, buffer }, paths);
  const metadata = attachments.length > 0 ? { attachments } : {};
  return [message.normalize({ role: "user", content: words ?? "", metadata })];
}
