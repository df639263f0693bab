// One HTTP exchange, over a connection to one of the addresses that were checked.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { hostOf, portOf } from "./allowed-hosts.ts";
import { Failure, failure, temporaryFailure } from "./failure.ts";
import { shownUrl } from "./page-request.ts";

export type Hop = {
  readonly url: URL;
  readonly method: string;
  readonly body: Buffer | undefined;
  readonly contentType: string | undefined;
};

const PERMANENT = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HPE_|ERR_INVALID_|EPROTO)/;

/** Resolves with the response as soon as its headers are there. */
export async function send(
  hop: Hop,
  addresses: readonly string[],
  userAgent: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, method, body } = hop;
  const isSecure = url.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (isSecure ? requestHttps : requestHttp)({
    method,
    host: hostOf(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    headers: headersOf(hop, userAgent),
    // An empty environment: proxies of the real one would resolve names on their own.
    agent: isSecure ? new HttpsAgent({ proxyEnv: {} }) : new HttpAgent({ proxyEnv: {} }),
    lookup: answering(addresses),
    signal,
  });
  request.on("response", resolve);
  request.on("error", reject);
  request.end(body);
  return await promise;
}

/** Ends the exchange without reading the rest of the body. */
export function discard(response: IncomingMessage): void {
  response.on("error", () => {});
  response.destroy();
}

/** Errors of the connection as failures. */
export function toFailure(error: unknown, url: URL): Failure {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  const sentence = `${shownUrl(url)} could not be fetched: ${code}.`;
  return PERMANENT.test(code) ? failure(sentence, error) : temporaryFailure(sentence, error);
}

/** The error that an attempt to connect to several addresses comes to holds one for each of them. */
function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return code;
  return error instanceof AggregateError && error.errors.length > 0 ? codeOf(error.errors[0]) : message;
}

function headersOf({ url, body, contentType }: Hop, userAgent: string): Record<string, string | number> {
  const port = url.port === "" ? "" : `:${url.port}`;
  const host = hostOf(url);
  return {
    Host: isIP(host) === 6 ? `[${host}]${port}` : `${host}${port}`,
    "User-Agent": userAgent,
    Accept: "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.8",
    "Accept-Encoding": "gzip, br",
    Connection: "close",
    ...(contentType !== undefined && { "Content-Type": contentType }),
    ...(body !== undefined && { "Content-Length": body.length }),
  };
}

/** Stands in for the resolver, so that the name is not resolved a second time. */
function answering(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all: asksForAll }, callback) => {
    const [first] = all;
    if (asksForAll === true) callback(null, all);
    else callback(null, first?.address ?? "", first?.family);
  };
}
