// Fetches one page: follows redirects and checks every address anew before a connection is made.
import type { IncomingMessage } from "node:http";
import { type AllowedHost, permittedAddresses } from "./allowed-hosts.ts";
import { readBody } from "./body.ts";
import { failure } from "./failure.ts";
import { discard, type Hop, send, toFailure } from "./hop.ts";
import type { Options } from "./options.ts";
import { checkUrl, type PageRequest, shownUrl } from "./page-request.ts";
import type { ResolveName } from "./resolve-name.ts";
import { refusedStatus } from "./status.ts";

export type Page = {
  readonly url: URL;
  readonly status: number;
  readonly contentType: string;
  /** Without its content encoding. */
  readonly body: Buffer;
};

export type FetchContext = { readonly resolve: ResolveName; readonly signal: AbortSignal };

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Fetches a page. Throws a `Failure` for everything that keeps it from being fetched. */
export async function fetchPage(request: PageRequest, options: Options, context: FetchContext): Promise<Page> {
  let hop: Hop = request;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    try {
      const addresses = await untilAborted(permittedAddressesOf(hop, options.allowHosts, context), context.signal);
      const response = await send(hop, addresses, options.userAgent, context.signal);
      const target = redirectTarget(response);
      if (target === undefined) return await readPage(hop, response, options);
      discard(response);
      hop = nextHop(hop, response.statusCode, target, options);
    } catch (error) {
      throw toFailure(context.signal.aborted ? context.signal.reason : error, hop.url);
    }
  }
  throw failure(`${shownUrl(request.url)} has more than ${MOST_REDIRECTS} redirects.`);
}

async function readPage(hop: Hop, response: IncomingMessage, options: Options): Promise<Page> {
  const status = response.statusCode ?? 0;
  const refused = refusedStatus(status, hop.url, options.okStatuses);
  if (refused !== undefined) {
    discard(response);
    throw refused;
  }
  const body = await readBody(response, { isHead: hop.method === "HEAD", maxBytes: options.maxBytes });
  return { url: hop.url, status, contentType: response.headers["content-type"] ?? "", body };
}

function redirectTarget({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return REDIRECTS.includes(statusCode) ? headers.location : undefined;
}

function permittedAddressesOf({ url }: Hop, allowed: readonly AllowedHost[], { resolve }: FetchContext) {
  checkUrl(url);
  return permittedAddresses(url, allowed, resolve);
}

function nextHop(hop: Hop, status: number | undefined, location: string, options: Options): Hop {
  // Header values arrive as Latin-1; what servers write into them is UTF-8.
  const url = URL.parse(Buffer.from(location, "latin1").toString("utf8"), hop.url);
  if (url === null) throw failure(`${shownUrl(hop.url)} redirects to something that is not a URL.`);
  if (hop.url.protocol === "https:" && url.protocol === "http:" && !options.allowDowngrade) {
    throw failure(
      `${shownUrl(hop.url)} redirects from https to http. The plugin's config.allow_downgrade can allow it.`,
    );
  }
  const keepsMethod = status === 307 || status === 308 || hop.method === "GET" || hop.method === "HEAD";
  if (!keepsMethod) return { url, method: "GET", body: undefined, contentType: undefined };
  if (hop.body !== undefined && url.origin !== hop.url.origin) {
    throw failure(`${shownUrl(hop.url)} redirects a ${hop.method} with its body to another host.`);
  }
  return { ...hop, url };
}

/** A name that is being resolved cannot be interrupted; its answer is no longer waited for. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
