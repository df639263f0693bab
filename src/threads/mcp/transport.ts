// How an MCP server is reached: a program of its own, or a place on the network. Neither may say more at once than is read.
import {
  type FetchLike,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isMap } from "../../contracts/json.ts";
import type { McpAddress } from "./mcp-options.ts";

/** Beside the arguments of every call: a server that knows it can tell a repeat from a second call. */
export const KEY_IN_META = "holdfast/idempotency-key";

/** The most bytes that one answer may have. */
const MOST_BYTES = 10 * 1024 * 1024;

/** So much of what a program prints beside the protocol is kept, to be told when it fails. */
const KEPT_WORDS = 2_000;

export type OpenTransport = {
  readonly transport: Transport;
  /** What the server last said beside the protocol. */
  words(): string;
  /** Tells when the answer to the call of that key can no longer come; returns a function that ends the watch. */
  watch(key: string, lost: () => void): () => void;
  /** It is closed, and nobody needs to look after it any more. */
  forget(): void;
};

export function openTransport(address: McpAddress): OpenTransport {
  return address.kind === "http" ? overHttp(address) : overPipes(address);
}

function overHttp({ url, headers }: Extract<McpAddress, { kind: "http" }>): OpenTransport {
  const transport = new WatchedTransport(url, { requestInit: { headers: { ...headers } }, fetch: cappedFetch });
  return { transport, words: () => "", watch: (key, lost) => transport.watch(key, lost), forget: () => undefined };
}

function overPipes({ command, args, env, cwd }: Extract<McpAddress, { kind: "stdio" }>): OpenTransport {
  const transport = new StdioClientTransport({
    ...{ command, args: [...args], env: { ...env }, stderr: "pipe", maxBufferSize: MOST_BYTES },
    ...(cwd !== undefined && { cwd }),
  });
  let said = "";
  transport.stderr?.on("data", (piece: Buffer) => {
    said = (said + piece.toString()).slice(-KEPT_WORDS);
  });
  if (started.size === 0) process.on("exit", endAll);
  started.add(transport);
  return {
    transport,
    words: () => said.trim(),
    // When the program ends, everything that waits for it is told.
    watch: () => () => undefined,
    forget() {
      started.delete(transport);
      if (started.size === 0) process.off("exit", endAll);
    },
  };
}

/** Programs that were started here: one that does not mind that nobody talks to it any more would outlive us. */
const started = new Set<StdioClientTransport>();

function endAll(): void {
  for (const { pid } of started) if (pid !== null) process.kill(pid);
}

type Sent = Parameters<StreamableHTTPClientTransport["send"]>;

/** Tells of a call whose answer was cut off: the transport would let its caller wait until the time is up. */
class WatchedTransport extends StreamableHTTPClientTransport {
  readonly #watched = new Map<string, () => void>();
  readonly #unanswered = new Set<RequestId>();

  constructor(...given: ConstructorParameters<typeof StreamableHTTPClientTransport>) {
    super(...given);
    // Whoever connects hears of messages after this: an answer that has come is not lost with its stream.
    this.onmessage = (message) => {
      if (isJSONRPCResponse(message) && message.id !== undefined) this.#unanswered.delete(message.id);
    };
  }

  watch(key: string, lost: () => void): () => void {
    this.#watched.set(key, lost);
    return () => this.#watched.delete(key);
  }

  override async send(...[message, options]: Sent): Promise<void> {
    const call = keyedCall(message);
    if (!call) return await super.send(message, options);
    this.#unanswered.add(call.id);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.delete(call.id)) this.#watched.get(call.key)?.();
    };
    await super.send(message, { ...options, onRequestStreamEnd });
  }
}

function keyedCall(message: Sent[0]): { readonly id: RequestId; readonly key: string } | undefined {
  if (Array.isArray(message) || !isJSONRPCRequest(message) || message.method !== "tools/call") return undefined;
  const meta = message.params?._meta;
  const key = isMap(meta) ? meta[KEY_IN_META] : undefined;
  return typeof key === "string" ? { id: message.id, key } : undefined;
}

const cappedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        bytes += piece.byteLength;
        if (bytes > MOST_BYTES) controller.error(new Error(`The answer has more than ${MOST_BYTES} bytes.`));
        else controller.enqueue(piece);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
};
