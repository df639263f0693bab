// Whose word counts about the agents behind a request. Anybody who holds a token can claim to call for an agent of another
// host; the claim counts when that host is believed by name, or has signed it with a key that it shares with this one.
import { createHmac, timingSafeEqual } from "node:crypto";
import { type CallerContext, toHeaders } from "../contracts/trust/caller-context.ts";
import type { ServerOptions } from "./server-options.ts";

/** Beside the headers with the claims: `t=<Unix seconds>,v1=<hexadecimal HMAC-SHA256>`. */
export const SIGNATURE_HEADER = "X-Agents-Api-Caller-Signature";

/** How far the clocks of two hosts may be apart, and how long a signature can be used. */
const FRESH_SECONDS = 300;

/** What is signed beside the claims: nobody can use the signature for another request than one like it. */
export type SignedRequest = { readonly method: string; readonly path: string; readonly time: number };

/** `forged`: signed, and not by the host that it names. `unknown`: nothing speaks for it, so it is passed over. */
export type CallerVerdict = "trusted" | "unknown" | "forged";

/** The value of the signature's header. */
export function signCaller(context: CallerContext, key: string, request: SignedRequest): string {
  return `t=${request.time},v1=${macOf(context, key, request)}`;
}

export function judgeCaller(
  context: CallerContext,
  signature: string | undefined,
  request: SignedRequest,
  { hosts = [], keys = {} }: NonNullable<ServerOptions["callers"]>,
): CallerVerdict {
  const host = hostOf(context.caller_host);
  const key = Object.entries(keys).find(([name]) => hostOf(name) === host)?.[1];
  if (key === undefined) return hosts.some((name) => hostOf(name) === host) ? "trusted" : "unknown";
  if (signature === undefined) return "unknown";
  const [, time, mac] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (time === undefined || mac === undefined) return "forged";
  if (Math.abs(request.time - Number(time)) > FRESH_SECONDS) return "forged";
  const expected = macOf(context, key, { ...request, time: Number(time) });
  return timingSafeEqual(Buffer.from(mac), Buffer.from(expected)) ? "trusted" : "forged";
}

/** Each part on a line of its own; none of them can hold a line end, being headers. */
function macOf(context: CallerContext, key: string, { method, path, time }: SignedRequest): string {
  const lines = ["v1", time, method, path, ...Object.values(toHeaders(context))];
  return createHmac("sha256", key).update(lines.join("\n")).digest("hex");
}

/** Hosts are compared by where they are, whatever else stands in the URL. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
