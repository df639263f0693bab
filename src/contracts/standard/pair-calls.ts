// Calls and results as every provider takes them: each call has its one result, and nothing stands between the two.
import { nonEmptyString } from "../coerce.ts";
import * as message from "../conversation/message.ts";

type Message = message.Message;

/** How a message is marked by which the loop tells a model that a call keeps failing. */
export const NUDGE = "identical_failure_nudge";

/** Which messages belong to which call, all by index. */
type CallMatch = {
  /** The call of a result, or of a request that somebody has to answer first. */
  readonly callOf: ReadonlyMap<number, number>;
  /** What a call is answered with: requests, and the last of its results. */
  readonly answersOf: ReadonlyMap<number, readonly number[]>;
};

/** Finds the calls that results and requests belong to. */
export function matchCalls(messages: readonly Message[]): CallMatch {
  const callOf = new Map<number, number>();
  const answersOf = new Map<number, readonly number[]>();
  // The last call of an id counts, because some providers begin to count anew with every answer.
  const byId = new Map<string, number>();
  const withoutId: number[] = [];
  const isResult = (index: number) => messages[index]?.type === "tool_result";
  const isWaiting = (call: number) => !answersOf.get(call)?.some(isResult);
  for (const [index, given] of messages.entries()) {
    if (!isOfCall(given)) continue;
    const id = nonEmptyString(given.metadata.tool_call_id);
    if (given.type === "tool_call") {
      if (id === undefined) withoutId.push(index);
      else byId.set(id, index);
      continue;
    }
    const hasName = (call: number) => messages[call]?.payload.tool_name === given.payload.tool_name;
    const call = id === undefined ? withoutId.find((each) => hasName(each) && isWaiting(each)) : byId.get(id);
    if (call === undefined) continue;
    callOf.set(index, call);
    const before = answersOf.get(call) ?? [];
    answersOf.set(call, [...(isResult(index) ? before.filter((each) => !isResult(each)) : before), index]);
  }
  return { callOf, answersOf };
}

/**
 * The messages with every result behind the calls of its answer: what stood in between comes after them, a result without
 * its call is left out, and a call without result gets one that says so. Given back as they are when nothing is amiss.
 */
export function pairCalls(messages: readonly Message[]): readonly Message[] {
  const { callOf, answersOf } = matchCalls(messages);
  const paired: Message[] = [];
  const taken = new Set<number>();
  let open: number[] = [];
  const take = (index: number) => {
    const given = messages[index];
    if (given === undefined || taken.has(index)) return;
    taken.add(index);
    paired.push(given);
  };
  const close = () => {
    for (const call of open) {
      const answers = answersOf.get(call);
      if (answers) answers.forEach(take);
      else paired.push(missingResult(messages[call] as Message));
    }
    open = [];
  };
  for (const [index, given] of messages.entries()) {
    const call = callOf.get(index);
    if (call !== undefined) {
      if (answersOf.get(call)?.includes(index)) take(index);
    } else if (given.type === "tool_call") {
      if (!isSameAnswer(messages[open[0] ?? -1], given)) close();
      take(index);
      open.push(index);
    } else if (given.type !== "tool_result") {
      close();
      take(index);
    }
  }
  close();
  const isUnchanged = paired.length === messages.length && paired.every((each, index) => each === messages[index]);
  return isUnchanged ? messages : paired;
}

/** Calls, what they came to, and who has to be asked first. */
export function isOfCall({ type }: Message): boolean {
  return type === "tool_call" || type === "tool_result" || type === "approval_required" || type === "input_required";
}

/** The calls of an answer are numbered alike, and only the first message of an answer holds what the model thought. */
function isSameAnswer(first: Message | undefined, { payload, metadata }: Message): boolean {
  return (
    first !== undefined && payload.turn !== undefined && payload.turn === first.payload.turn && !metadata.reasoning
  );
}

function missingResult({ payload, metadata }: Message): Message {
  const error = "There is no result of this call.";
  const { tool_call_id, side } = metadata;
  return message.toolResult({
    content: error,
    tool_name: nonEmptyString(payload.tool_name) ?? "",
    payload: { success: false, error, ...(payload.turn !== undefined && { turn: payload.turn }) },
    metadata: { ...(tool_call_id !== undefined && { tool_call_id }), ...(side !== undefined && { side }) },
  });
}
