// What every answer tells besides its own headers: the id of its request, and what a browser may do with it.
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";

/** What a browser may do with an answer; those that are pages say more themselves. */
export const careful: readonly (readonly [name: string, value: string])[] = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
});

export const REQUEST_ID = "X-Request-Id";

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * An answer that is careful whoever writes it. The headers are added when they are written, all at once: set one by one
 * before, they would take longer than the rest of a short answer. What the answer says of its own stands over them.
 */
export class CarefulResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  requestId: string | undefined;

  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    const [phrase, own] = typeof reason === "string" ? [reason, headers] : [undefined, reason ?? headers];
    const all = this.#withCareful(own);
    return phrase === undefined ? super.writeHead(status, all) : super.writeHead(status, phrase, all);
  }

  #withCareful(own: Headers | undefined): OutgoingHttpHeader[] {
    const all = Array.isArray(own) ? own.flat() : flatOf(own);
    const said = new Set<unknown>();
    for (let at = 0; at < all.length; at += 2) said.add(String(all[at]).toLowerCase());
    const isSaid = (name: string) => said.has(name.toLowerCase()) || this.hasHeader(name);
    for (const [name, value] of careful) if (!isSaid(name)) all.push(name, value);
    if (this.requestId !== undefined && !isSaid(REQUEST_ID)) all.push(REQUEST_ID, this.requestId);
    return all;
  }
}

function flatOf(headers: OutgoingHttpHeaders = {}): OutgoingHttpHeader[] {
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}
