// From envelopes to the turns of a conversation as providers know them: an answer with its calls is one turn, and every
// call has its one result.
import { nonEmptyString } from "../../contracts/coerce.ts";
import * as message from "../../contracts/conversation/message.ts";
import { isContainer, isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { type ContentPart, contentParts, wordsOf } from "./content-parts.ts";

type Message = message.Message;

export type Reasoning = { readonly text: string; readonly provider_id: string; readonly provider_metadata?: JsonMap };

export type TurnPart = ContentPart & { readonly provider_metadata?: JsonMap };

export type TurnCall = {
  /** As the envelope has it, which may be no id for a provider. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonMap;
  readonly provider_metadata?: JsonMap;
  result: { readonly text: string; readonly isError: boolean; readonly files?: readonly ContentPart[] };
};

export type AssistantTurn = {
  readonly role: "assistant";
  readonly reasoning: readonly Reasoning[];
  readonly parts: TurnPart[];
  readonly calls: TurnCall[];
};

export type Turn =
  | { readonly role: "system" | "notice"; readonly text: string }
  | { readonly role: "user"; readonly parts: readonly ContentPart[] }
  | AssistantTurn;

/** Results and later calls find the turn that they belong to, wherever they stand. */
type Reading = {
  readonly turns: Turn[];
  /** The turn that further calls of the same answer join, and the loop's number of it. */
  open: { readonly turn: AssistantTurn; readonly number: unknown } | undefined;
  readonly calls: { readonly call: TurnCall; isSettled: boolean }[];
};

/** The turns of a transcript. A call that nobody has answered yet says so, because no provider takes one without. */
export function readTurns(messages: readonly Message[]): readonly Turn[] {
  const reading: Reading = { turns: [], open: undefined, calls: [] };
  for (const each of messages.flatMap(withoutNesting)) readMessage(reading, each);
  return reading.turns;
}

/** Neighbours that were merged into one envelope are taken apart again. */
function withoutNesting(given: Message): readonly Message[] {
  const parts = given.type === "multimodal_part" ? given.payload.parts : undefined;
  if (!isContainer(parts)) return [given];
  return Object.values(parts).flatMap((part) => {
    if (!isMap(part)) return [];
    const inner =
      part.schema === message.SCHEMA ? message.normalize(part) : message.text(given.role, [snapshotMap(part)]);
    return withoutNesting(inner);
  });
}

function readMessage(reading: Reading, given: Message): undefined {
  switch (given.type) {
    case "tool_call":
      return takeCall(reading, given);
    case "tool_result":
      return takeResult(reading, given);
    case "approval_required":
    case "input_required":
      return takeRequest(reading, given);
    case "error":
      return add(reading, { role: "notice", text: wordsOf(given.content) });
    case "delta":
      // A piece of something that stands in the transcript as a whole, or never became whole.
      return;
    default:
      return takeWords(reading, given);
  }
}

function add({ turns }: Reading, turn: Turn): undefined {
  turns.push(turn);
}

function takeWords(reading: Reading, given: Message): undefined {
  const { content, metadata } = given;
  const role = roleOf(given);
  if (role !== "assistant") {
    // The loop speaks up between two calls of one answer; anybody else only after all of them.
    if (role !== "notice") reading.open = undefined;
    add(reading, role === "user" ? { role, parts: contentParts(content) } : { role, text: wordsOf(content) });
    return;
  }
  const kept = isMap(metadata.provider_metadata) ? { provider_metadata: snapshotMap(metadata.provider_metadata) } : {};
  const parts = contentParts(content).map((part) => (part.type === "text" ? { ...part, ...kept } : part));
  const last = reading.turns.at(-1);
  // Files that the model made come after its words, as a message of their own.
  const belongs = typeof content !== "string" && last?.role === "assistant" && last.calls.length === 0;
  if (belongs) last.parts.push(...parts);
  else begin(reading, given, parts);
}

function begin(reading: Reading, { metadata, payload }: Message, parts: readonly TurnPart[]): AssistantTurn {
  const turn: AssistantTurn = { role: "assistant", reasoning: readReasoning(metadata), parts: [...parts], calls: [] };
  add(reading, turn);
  reading.open = { turn, number: payload.turn };
  return turn;
}

function readReasoning({ reasoning }: JsonMap): readonly Reasoning[] {
  const blocks: readonly unknown[] = Array.isArray(reasoning) ? reasoning : [];
  return blocks.flatMap((block) => {
    if (!isMap(block) || typeof block.text !== "string" || typeof block.provider_id !== "string") return [];
    const { text, provider_id, provider_metadata } = block;
    return [
      { text, provider_id, ...(isMap(provider_metadata) && { provider_metadata: snapshotMap(provider_metadata) }) },
    ];
  });
}

const NUDGE = "identical_failure_nudge";

/** Any word may stand for a role. What the loop tells the model in the assistant's name is not the assistant's. */
function roleOf({ role, metadata }: Message): "system" | "user" | "assistant" | "notice" {
  if (metadata.type === NUDGE) return "notice";
  if (role === "system" || role === "developer") return "system";
  return role === "assistant" || role === "model" ? "assistant" : "user";
}

function takeCall(reading: Reading, given: Message): undefined {
  const { metadata, payload, content } = given;
  const turn = turnOfCall(reading, given) ?? begin(reading, given, contentParts(content));
  const call: TurnCall = {
    id: nonEmptyString(metadata.tool_call_id) ?? "",
    name: nonEmptyString(payload.tool_name) ?? "",
    input: snapshotMap(payload.parameters),
    ...(isMap(metadata.provider_metadata) && { provider_metadata: snapshotMap(metadata.provider_metadata) }),
    result: { text: "There is no result of this call.", isError: true },
  };
  turn.calls.push(call);
  reading.open = { turn, number: payload.turn };
  reading.calls.push({ call, isSettled: false });
}

/** The answer that the call is part of: the words just before it, or the calls that the loop numbers alike. */
function turnOfCall({ open, turns }: Reading, { metadata, payload }: Message): AssistantTurn | undefined {
  // What a model thought is kept with the first message of an answer.
  if (!open || metadata.reasoning !== undefined) return undefined;
  const isFirst = open.turn.calls.length === 0 && turns.at(-1) === open.turn;
  const isNext = payload.turn !== undefined && payload.turn === open.number;
  return isFirst || isNext ? open.turn : undefined;
}

function takeResult(reading: Reading, given: Message): undefined {
  const { content, payload } = given;
  const parts = contentParts(content);
  const files = parts.filter(({ type }) => type === "file");
  const words = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const text = files.length === 0 ? wordsOf(content) : words.join("\n");
  const isError = payload.success === false;
  const entry = callOf(reading, given);
  if (!entry) return add(reading, { role: "notice", text: `Result of ${payload.tool_name ?? "a tool"}: ${text}` });
  // A later result takes the place of one that only said that it was being waited for.
  entry.call.result = { text, isError, ...(files.length > 0 && { files }) };
  entry.isSettled = true;
}

/** A request stands in place of a result as long as there is none. */
function takeRequest(reading: Reading, given: Message): undefined {
  const entry = callOf(reading, given);
  const text = wordsOf(given.content);
  if (!entry) return add(reading, { role: "notice", text });
  if (!entry.isSettled)
    entry.call.result = { text: text || "Somebody has to approve this call first.", isError: false };
}

/** The last call of that id, because some providers begin to count anew with every answer. */
function callOf({ calls }: Reading, { metadata, payload }: Message): Reading["calls"][number] | undefined {
  const id = nonEmptyString(metadata.tool_call_id);
  if (id !== undefined) return calls.findLast(({ call }) => call.id === id);
  return calls.find(({ call, isSettled }) => !isSettled && call.name === payload.tool_name);
}
