// The host's hooks around a message of a channel: to them it is a chat like any other. What they throw is thrown on, so that
// nothing is stored and whoever sent the message sends it again.
import { redactedParameters } from "../contracts/abilities/dispatcher.ts";
import { gate } from "../contracts/abilities/lifecycle.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { PendingActionHost } from "../contracts/trust/stage-action.ts";

const CHAT = "agents/chat";

/** What `execute` came to, or what a hook answers in its place. */
export type Passed<Result> =
  | { readonly passed: true; readonly result: Result }
  | { readonly passed: false; readonly value: unknown };

/** Observers are told of a message at least once: who finds it stored already tells of it again. */
export async function throughHooks<Result extends JsonMap>(
  host: PendingActionHost,
  input: JsonMap,
  execute: () => Promise<Result>,
): Promise<Passed<Result>> {
  const { hooks } = host;
  if (!hooks) return { passed: true, result: await execute() };
  const shown = redactedParameters(CHAT, input, undefined);
  hooks.emit("abilityInvoked", CHAT, shown);
  const answer = await gate(CHAT, input, { ...host, context: { door: "channel" } });
  if (!answer.passed) return answer;
  const result = await execute();
  hooks.emit("abilityExecuted", CHAT, shown, Object.freeze({ ...result }));
  return { passed: true, result };
}
