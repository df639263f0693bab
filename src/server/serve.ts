// The HTTP server as a process has it: it listens, answers within bounded time, and ends in good order.
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { holdfastError } from "../contracts/error.ts";
import type { Holdfast } from "../holdfast.ts";
import { createApp } from "./app.ts";
import { answerBroken, answerUnreadable } from "./broken-requests.ts";
import { CarefulResponse } from "./careful-response.ts";
import { inUrl, isLoopback } from "./hosts.ts";
import type { ServerOptions } from "./server-options.ts";
import { discardUnread } from "./unread-body.ts";

export type ServeOptions = ServerOptions & {
  /** What the server proves itself with at `/health`, to whoever knows the key too; it proves nothing unless given. */
  readonly proofKey?: string;
  /** PORT, or 8484, unless given; 0 for any that is free. */
  readonly port?: number;
  /** How long requests may take to end when the server is to end; 10 seconds unless given. */
  readonly drainMs?: number;
  readonly timeouts?: {
    /** For the headers of a request to come; 15 seconds unless given. */
    readonly headersMs?: number;
    /** For the whole of a request to come; a minute unless given. Answers may take as long as they need. */
    readonly requestMs?: number;
    /** For another request on the same connection; 5 seconds unless given. */
    readonly keepAliveMs?: number;
  };
};

export type RunningServer = {
  readonly url: string;
  /** Tells streams to close, lets requests come to their end and closes. The runtime stays open. */
  close(): Promise<void>;
};

const PORT = 8484;
const LOOPBACK = "127.0.0.1";

const HIGHEST_PORT = 65_535;

/** Throws `bind_refused` when others could come and nobody would have to say who they are. */
export async function serve(holdfast: Holdfast, options: ServeOptions = {}): Promise<RunningServer> {
  const { hostname = LOOPBACK, port: wanted = portOf(process.env.PORT), drainMs = 10_000 } = options;
  checkAddress(wanted, hostname);
  if (!isLoopback(hostname)) await checkWide(holdfast, options);
  const closing = new AbortController();
  const app = createApp(holdfast, { ...options, hostname, closing: closing.signal });
  // Bodies that were not read are ours to clean up: the listener closes their connections after half a second.
  const listener = getRequestListener(app.fetch, { errorHandler: answerUnreadable, autoCleanupIncoming: false });
  const server = createServer(serverOptions(options), (incoming, outgoing) => {
    outgoing.once("finish", () => discardUnread(incoming));
    void listener(incoming, outgoing);
  });
  server.on("clientError", answerBroken);
  await listen(server, wanted, hostname);
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${inUrl(hostname)}:${port}`,
    close() {
      closed ??= close(server, closing, drainMs);
      return closed;
    },
  };
}

function serverOptions({ timeouts = {} }: ServeOptions) {
  const { headersMs = 15_000, requestMs = 60_000, keepAliveMs = 5_000 } = timeouts;
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.max(100, Math.min(5_000, headersMs, requestMs)),
    ServerResponse: CarefulResponse,
    // Answered by us, as every other mistake is.
    requireHostHeader: false,
  };
}

function checkAddress(port: number, hostname: string): void {
  if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT) {
    throw holdfastError("invalid_argument", `port must be a number from 0 to ${HIGHEST_PORT}, not ${String(port)}.`);
  }
  // Without a name Node listens everywhere, which nobody should do by accident.
  if (typeof hostname === "string" && hostname !== "" && !hostname.includes("\0")) return;
  throw holdfastError("invalid_argument", "hostname must be a name or an address; 0.0.0.0 and :: stand for all.");
}

async function checkWide(holdfast: Holdfast, { hostname, anonymousAgent }: ServeOptions): Promise<void> {
  if (!(await holdfast.tokens.exist())) {
    throw holdfastError("bind_refused", `There are no tokens, and ${hostname} can be reached from elsewhere.`);
  }
  if (anonymousAgent === undefined) return;
  throw holdfastError("bind_refused", `Strangers are let in, and ${hostname} can be reached from elsewhere.`);
}

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on("error", (cause) =>
      reject(
        holdfastError("bind_refused", `Nothing can listen on ${inUrl(hostname)}:${port}: ${cause.message}`, cause),
      ),
    );
    server.listen(port, hostname, resolve);
  });
}

function portOf(given: string | undefined): number {
  if (given === undefined || given === "") return PORT;
  const port = Number(given);
  if (/^\d{1,5}$/.test(given) && port <= HIGHEST_PORT) return port;
  throw holdfastError("invalid_argument", `PORT must be a number from 0 to ${HIGHEST_PORT}, not "${given}".`);
}

async function close(server: Server, closing: AbortController, drainMs: number): Promise<void> {
  closing.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}
