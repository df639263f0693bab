// What only the runtime writes: brought by somebody else, a model would take it for what a tool did or a person decided, and
// a call without its one result would have every provider refuse the history from then on.
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { holdfastError } from "../contracts/error.ts";
import { isContainer, isMap, type Json } from "../contracts/json.ts";

const OURS: ReadonlySet<string> = new Set(["tool_call", "tool_result", "approval_required"]);

/** Throws `invalid_ai_message_envelope` for such a message, unless it is another version of one, about the same call. */
export function refuseOurs(given: Message, replaced?: Message): void {
  const isVersion = given.type === replaced?.type && callOf(given) === callOf(replaced);
  const [ours] = [given, ...within(given)].filter(({ type }) => OURS.has(type));
  if (!ours || (isVersion && ours === given)) return;
  throw holdfastError(
    "invalid_ai_message_envelope",
    `type ${ours.type} is for the runtime to write, and not to be sent`,
  );
}

function callOf({ metadata }: Message): Json | undefined {
  return metadata.tool_call_id;
}

/** The messages that were merged into one: models are shown each of them. */
function within({ type, payload: { parts } }: Message): readonly Message[] {
  if (type !== "multimodal_part" || !isContainer(parts)) return [];
  const inner = Object.values<Json>(parts).filter((part) => isMap(part) && part.schema === message.SCHEMA);
  return inner.map(message.normalize).flatMap((each) => [each, ...within(each)]);
}
