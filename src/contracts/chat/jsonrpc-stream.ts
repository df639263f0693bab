// A streamed chat as the frames of a JSON-RPC client: deltas, and one frame that ends them.
import { identifier } from "../coerce.ts";
import { isMap, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationErrorOf } from "../operation-error.ts";
import { deltaToWire, type JsonRpcDeltaFrame } from "./jsonrpc-delta.ts";
import { type JsonRpcId, type JsonRpcResponse, responseOf } from "./jsonrpc-dispatch.ts";

export type JsonRpcFrame = JsonRpcDeltaFrame | JsonRpcResponse;

/** Yields deltas and returns what the chat came to. */
export type ChatDeltas = AsyncGenerator<unknown, unknown, undefined>;

export type StreamPorts = {
  /** What is said while it is said, or a refusal. Absent where nobody streams: then the answer comes in one piece. */
  readonly stream?: ((input: UnknownMap) => Promise<ChatDeltas | OperationError>) | undefined;
  readonly chat: (input: UnknownMap) => Promise<unknown>;
};

/** All frames carry the same task, whoever made up its id. Never throws: what goes wrong is told in the last frame. */
export async function* streamJsonRpc(
  id: JsonRpcId,
  given: UnknownMap,
  { stream, chat }: StreamPorts,
): AsyncGenerator<JsonRpcFrame, void, undefined> {
  const run_id = identifier(given.run_id) ?? `run_${crypto.randomUUID().replaceAll("-", "")}`;
  const input = { ...given, run_id };
  try {
    if (!stream) return yield responseOf(id, await chat(input));
    const deltas = await stream(input);
    if (isOperationError(deltas)) return yield responseOf(id, deltas);
    try {
      for (;;) {
        const { done, value } = await deltas.next();
        if (done) return yield responseOf(id, ofRun(value, run_id));
        yield deltaToWire(run_id, value);
      }
    } finally {
      await deltas.return(undefined);
    }
  } catch (thrown) {
    yield responseOf(id, operationErrorOf(thrown, "agents_chat_stream_failed"));
  }
}

/** Nobody changes the run that was asked for. */
function ofRun(output: unknown, run_id: string): unknown {
  return isMap(output) && !isOperationError(output) ? { ...output, run_id } : output;
}
