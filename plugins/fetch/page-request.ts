// What is fetched, read from the request's payload.
import { failure } from "./failure.ts";
import type { Options } from "./options.ts";

export type PageRequest = {
  readonly url: URL;
  readonly method: string;
  readonly body: Buffer | undefined;
  readonly contentType: string | undefined;
};

const LONGEST_URL = 8_192;

export function readPageRequest(payload: Readonly<Record<string, unknown>>, options: Options): PageRequest {
  const method = readMethod(payload, options);
  const hasBody = payload.body !== undefined && method !== "GET" && method !== "HEAD";
  return {
    url: readUrl(payload.url),
    method,
    body: hasBody ? readBody(payload.body) : undefined,
    contentType: hasBody ? readContentType(payload) : undefined,
  };
}

/** What holds for every URL that is fetched, also for the target of a redirect. */
export function checkUrl(url: URL): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw failure(`Only http and https are fetched, not ${url.protocol.slice(0, -1)}.`);
  }
  if (url.username !== "" || url.password !== "") throw failure("A URL with a user name or password is not fetched.");
}

/** For messages: without the query, which may hold a key. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function readUrl(value: unknown): URL {
  if (typeof value !== "string" || value.trim() === "") throw failure("The payload has no url.");
  if (value.length > LONGEST_URL) throw failure(`The url is longer than ${LONGEST_URL} characters.`);
  const url = URL.parse(value);
  if (url === null) throw failure("The url cannot be parsed.");
  checkUrl(url);
  return url;
}

function readMethod(payload: Readonly<Record<string, unknown>>, { methods }: Options): string {
  const method = payload.method ?? "GET";
  if (typeof method !== "string") throw failure("The method is not a text.");
  if (!methods.includes(method.toUpperCase())) {
    throw failure(`The method ${JSON.stringify(method)} is not allowed: config.methods allows ${methods.join(", ")}.`);
  }
  return method.toUpperCase();
}

function readBody(value: unknown): Buffer {
  if (typeof value === "string") return Buffer.from(value);
  try {
    return Buffer.from(JSON.stringify(value));
  } catch (error) {
    throw failure("The body is nested too deeply.", error);
  }
}

function readContentType({ body, content_type }: Readonly<Record<string, unknown>>): string {
  const type = content_type ?? (typeof body === "string" ? "text/plain;charset=utf-8" : "application/json");
  if (typeof type !== "string" || !/^[\x20-\x7e]+$/.test(type)) throw failure("The content_type is not a media type.");
  return type;
}
