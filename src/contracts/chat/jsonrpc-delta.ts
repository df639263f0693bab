// A piece of an answer on its way, as a JSON-RPC client is sent it.
import { scalarText, wholeNumber } from "../coerce.ts";
import { asMap, emptyMap, type JsonMap, seal, type UnknownMap } from "../json.ts";

export type JsonRpcDeltaFrame = {
  readonly jsonrpc: "2.0";
  readonly method: "message/delta";
  readonly params: { readonly id: string; readonly delta: JsonMap };
};

export function deltaToWire(taskId: string, delta: unknown): JsonRpcDeltaFrame {
  return seal({
    jsonrpc: "2.0",
    method: "message/delta",
    params: seal({ id: taskId, delta: wireDelta(asMap(delta) ?? emptyMap) }),
  });
}

function wireDelta(delta: UnknownMap): JsonMap {
  const toolCallId = scalarText(delta.tool_call_id) ?? "";
  const toolCallIndex = wholeNumber(delta.index, Number.MIN_SAFE_INTEGER) ?? 0;
  switch (delta.type) {
    case "tool_call": {
      const toolCallName = scalarText(delta.tool_name) ?? "";
      return seal({ deltaType: "tool_name", content: toolCallName, toolCallId, toolCallName, toolCallIndex });
    }
    case "tool_argument":
      return seal({ deltaType: "tool_argument", content: scalarText(delta.text) ?? "", toolCallId, toolCallIndex });
    default:
      return seal({ deltaType: "content", content: scalarText(delta.text ?? delta.content) ?? "" });
  }
}
