// The redacted story of a run's tool calls: which ones, with which arguments by name, and what shape came back.
import { byteLength } from "../canonical-json.ts";
import { nonEmptyString } from "../coerce.ts";
import { emptyMap, isEmpty, isMap, type Json, type JsonMap, seal } from "../json.ts";

type Call = {
  readonly sequence: number;
  readonly turn: Json;
  readonly tool_call_id: string;
  tool_name: Json;
  status: "pending" | "succeeded" | "failed" | "rejected";
  readonly arguments: JsonMap;
  result?: JsonMap;
  error?: JsonMap;
};

/** What shares one call id, in order: the n-th answer belongs to the n-th call and the n-th execution. */
type Pairing = { readonly calls: Call[]; readonly executions: JsonMap[]; answered: number };

/** `{ version, calls }` from the tool events of a result and its execution results, both of them snapshots. */
export function observe(toolEvents: readonly JsonMap[], executionResults: readonly JsonMap[]): JsonMap {
  const pairings = new Map<unknown, Pairing>();
  for (const execution of executionResults) pairingOf(pairings, execution.tool_call_id).executions.push(execution);

  const calls: Call[] = [];
  for (const event of toolEvents) {
    const id = nonEmptyString(event.tool_call_id);
    if (id === undefined) continue;
    if (event.type === "tool_call") {
      const call = pendingCall(calls.length + 1, id, event);
      calls.push(call);
      pairingOf(pairings, id).calls.push(call);
    } else if (event.type === "tool_result") {
      const pairing = pairings.get(id);
      if (pairing !== undefined) answer(pairing, metadataOf(event));
    }
  }
  for (const call of calls) seal(call);
  return seal({ version: 1, calls: seal(calls) });
}

function pairingOf(pairings: Map<unknown, Pairing>, id: unknown): Pairing {
  const known = pairings.get(id);
  if (known !== undefined) return known;
  const pairing: Pairing = { calls: [], executions: [], answered: 0 };
  pairings.set(id, pairing);
  return pairing;
}

function pendingCall(sequence: number, id: string, event: JsonMap): Call {
  const { parameters } = metadataOf(event);
  const keys = seal(isMap(parameters) ? Object.keys(parameters) : []);
  return {
    sequence,
    turn: event.turn_count ?? null,
    tool_call_id: id,
    tool_name: event.tool_name ?? null,
    status: "pending",
    arguments: seal({ keys, count: keys.length, redacted: true }),
  };
}

function answer(pairing: Pairing, metadata: JsonMap): void {
  const call = pairing.calls[pairing.answered];
  if (call === undefined) return;
  const returned = pairing.executions[pairing.answered++]?.result;
  // The model may have called the tool by an alias; what ran knows its own name.
  if (isMap(returned)) call.tool_name = nonEmptyString(returned.tool_name) ?? call.tool_name;

  call.status = metadata.rejected === true ? "rejected" : metadata.success === true ? "succeeded" : "failed";
  if (call.status !== "succeeded") call.error = errors[call.status];
  else if (isMap(returned) && returned.result !== undefined) call.result = seal(shapeOf(returned.result));
}

// The texts are fixed, because what a tool says of its failure may hold the arguments that are redacted here.
const errors: Readonly<Record<"rejected" | "failed", JsonMap>> = {
  rejected: seal({ code: "agents_api_tool_call_rejected", message: "The tool call was rejected." }),
  failed: seal({ code: "agents_api_tool_execution_failed", message: "The tool call failed." }),
};

function shapeOf(value: Json): JsonMap {
  if (Array.isArray(value)) return { type: "array", count: value.length };
  if (isMap(value)) return { type: isEmpty(value) ? "array" : "object", count: Object.keys(value).length };
  if (typeof value === "string") return { type: "string", size: byteLength(value) };
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "double" };
  return { type: typeof value === "boolean" ? "boolean" : "null" };
}

function metadataOf(event: JsonMap): JsonMap {
  return isMap(event.metadata) ? event.metadata : emptyMap;
}
