// A request as channels see it: the very bytes that were signed.
import { asMap, isMap, type UnknownMap } from "../contracts/json.ts";

export type ChannelRequest = {
  /** The value of a header, whatever its name is written like; undefined when it is not there. */
  header(name: string): string | undefined;
  readonly body: Uint8Array;
  /** The body as text. Throws for what is no UTF-8. */
  text(): string;
  /** The body as a JSON object. Throws for anything else. */
  json(): UnknownMap;
  /** When it came, in milliseconds since 1970. */
  readonly receivedAt: number;
};

export type Received = {
  readonly headers: Headers | Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
};

export function channelRequest({ headers, body }: Received, receivedAt: number): ChannelRequest {
  const all = headers instanceof Headers ? headers : new Headers({ ...headers });
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const text = () => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return {
    header: (name) => all.get(name) ?? undefined,
    body: bytes,
    text,
    json() {
      const parsed: unknown = JSON.parse(text());
      const map = isMap(parsed) ? asMap(parsed) : undefined;
      if (!map) throw new SyntaxError("The body is no JSON object.");
      return map;
    },
    receivedAt,
  };
}
