// MCP over standard input and output, for a client that starts the program itself. The output carries the protocol and
// nothing else: whatever else is printed meanwhile goes to standard error.
import { type Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Holdfast } from "../../holdfast.ts";
import { createMcpServer } from "./mcp-server.ts";

export type StdioOptions = {
  /** On whose behalf everything is done: whoever started the program. */
  readonly principal: Principal;
  readonly input?: Readable;
  /** Told what went wrong with the protocol; on standard error unless given. */
  readonly onError?: (error: Error) => void;
};

export type StdioService = {
  /** When the client has gone, or close was called. The runtime stays open. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
};

export function serveMcpStdio(holdfast: Holdfast, options: StdioOptions): StdioService {
  const {
    principal,
    input = process.stdin,
    onError = (error) => console.error(`holdfast: ${error.message}`),
  } = options;
  const { output, giveBack } = takeOutput();
  const transport = new StdioServerTransport(input, output);
  const ended = Promise.withResolvers<void>();
  input.once("end", () => ended.resolve());
  input.once("close", () => ended.resolve());
  const service = serveStdio(() => createMcpServer(holdfast, principal), { transport, onerror: onError });
  const closed = ended.promise.then(async () => {
    await service.close();
    giveBack();
  });
  return {
    closed,
    async close() {
      ended.resolve();
      await closed;
    },
  };
}

/** Standard output for ourselves alone; a tool that prints something would otherwise speak in the middle of a message. */
function takeOutput(): { readonly output: Writable; giveBack(): void } {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const replaced = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const output = new Writable({ write: (piece, encoding, done) => void write(piece, encoding, () => done()) });
  return {
    output,
    giveBack() {
      stdout.write = replaced;
    },
  };
}
