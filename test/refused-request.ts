// A request that the HTTP server refuses, and what several of them are made of.
import type { Answer, Served } from "./served-runtime.ts";

export type Refused = {
  readonly what: string;
  readonly status: number;
  readonly code: string;
  /** `strict`: a server that lets everybody do everything only once. `impatient`: one that waits 100 ms for a request. */
  readonly send: (served: Served, strict: Served, impatient: Served) => Promise<Answer>;
};

export const json = "Content-Type: application/json\r\n";

/** The start of a request by hand. */
export function head(line: string, token: string, more = ""): string {
  return `${line} HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer ${token}\r\n${more}`;
}

export async function tokenWith(served: Served, options: object): Promise<string> {
  return (await served.holdfast.tokens.create({ agent: "helper", owner_user_id: 1, ...options })).token;
}
