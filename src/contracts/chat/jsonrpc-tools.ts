// Tool calls and their results as a JSON-RPC client sends them back: only in pairs, so that nobody makes up half of one.
import { text } from "../canonical-json.ts";
import { nonEmptyString, scalarText } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import * as message from "../conversation/message.ts";
import { type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";

type Call = { readonly toolId: string | undefined; readonly parameters: JsonMap };
type Result = { readonly toolId: string | undefined; readonly result: Json };

/** The envelopes of all pairs in the order of their calls: a call, then its result. */
export function pairedTools(parts: readonly UnknownMap[]): readonly Message[] | OperationError {
  const calls = new Map<string, Call>();
  const results = new Map<string, Result>();
  for (const data of parts) {
    // Ids and names are the client's own: it finds them again only as it has written them.
    const id = nonEmptyString(scalarText(data.toolCallId));
    if (id === undefined) continue;
    const toolId = nonEmptyString(scalarText(data.toolId));
    // Null is a result too: it is the field that makes it one.
    if (Object.hasOwn(data, "result")) {
      if (results.has(id)) return refused("duplicate_tool_result", `The call "${id}" has two results.`);
      results.set(id, { toolId, result: snapshot(data.result) });
    } else {
      if (calls.has(id)) return refused("duplicate_tool_call", `The call "${id}" is there twice.`);
      calls.set(id, { toolId, parameters: snapshotMap(data.arguments) });
    }
  }
  const isPaired = calls.size === results.size && [...calls.keys()].every((id) => results.has(id));
  if (!isPaired) return refused("tool_call_mismatch", "Every call needs its result, and every result its call.");
  return envelopes(calls, results);
}

function envelopes(
  calls: ReadonlyMap<string, Call>,
  results: ReadonlyMap<string, Result>,
): readonly Message[] | OperationError {
  const paired: Message[] = [];
  for (const [id, call] of calls) {
    const pair = pairOf(id, call, results.get(id) as Result);
    if (isOperationError(pair)) return pair;
    paired.push(...pair);
  }
  return paired;
}

function pairOf(id: string, call: Call, { toolId, result }: Result): readonly Message[] | OperationError {
  const tool_name = call.toolId;
  if (tool_name === undefined) return refused("invalid_tool_call", `The call "${id}" names no tool.`);
  if (toolId !== undefined && toolId !== tool_name) {
    return refused("tool_name_mismatch", `The call "${id}" and its result name different tools.`);
  }
  const metadata = { tool_call_id: id };
  return [
    message.toolCall({ tool_name, parameters: call.parameters, turn: 0, metadata }),
    message.toolResult({ content: text(result), tool_name, payload: { result }, metadata }),
  ];
}

function refused(code: string, words: string): OperationError {
  return operationError(`agents_chat_jsonrpc_${code}`, words, { status: 400 });
}
