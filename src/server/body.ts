// What a request brings: never more than it may, and JSON that is what it claims to be.
import type { Context } from "hono";
import { type ErrorCode, HoldfastError, holdfastError } from "../contracts/error.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import type { ServerEnv } from "./door.ts";
import { MOST_BYTES } from "./unread-body.ts";

/** As deep as what is stored may be. */
const DEEPEST = 512;

/**
 * Limits the body of a request. A length that is announced is refused here. A body of unknown length is read to its end,
 * without what is beyond the limit, and then fails with `body_too_large`.
 */
export function boundBody(context: Context<ServerEnv>, maxBytes: number): OperationError | undefined {
  const { raw } = context.req;
  if (raw.method === "GET" || raw.method === "HEAD") return undefined;
  const length = raw.headers.get("content-length");
  // The parser reads no further than what is announced, and takes only one of the two.
  if (length !== null) return Number(length) > maxBytes ? tooLarge(maxBytes) : undefined;
  if (!raw.headers.has("transfer-encoding") || !raw.body) return undefined;
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      size += piece.byteLength;
      if (size <= maxBytes) controller.enqueue(piece);
      else if (size > MOST_BYTES) controller.error(tooLargeError(maxBytes));
    },
    flush(controller) {
      if (size > maxBytes) controller.error(tooLargeError(maxBytes));
    },
  });
  const { method, headers, signal } = raw;
  const body = raw.body.pipeThrough(counted);
  context.req.raw = new Request(raw.url, { method, headers: new Headers(headers), signal, body, duplex: "half" });
  return undefined;
}

export type ReadBody = { readonly body: UnknownMap } | { readonly refusal: OperationError };

/** The JSON object that a request brings; an empty one when it brings nothing. */
export async function readJson(context: Context<ServerEnv>): Promise<ReadBody> {
  const bytes = await bytesOf(context);
  if (isOperationError(bytes)) return { refusal: bytes };
  if (bytes.byteLength === 0) return { body: {} };
  const type = context.req.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !/^application\/[\w.-]+\+json$/.test(type)) {
    return { refusal: operationError("unsupported_media_type", `The body is ${type || "of no type"}, not JSON.`) };
  }
  return parseBody(bytes);
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function parseBody(bytes: ArrayBuffer): ReadBody {
  let body: unknown;
  try {
    body = JSON.parse(decoder.decode(bytes));
  } catch {
    return { refusal: invalid("The body is no JSON in UTF-8.") };
  }
  if (!isMap(body)) return { refusal: invalid("The body must be a JSON object.") };
  const problem = problemIn(body);
  return problem === undefined ? { body } : { refusal: invalid(problem) };
}

/** What a request brings, as it is; a refusal of what is too large or did not come to its end. */
export async function bytesOf(context: Context<ServerEnv>): Promise<ArrayBuffer | OperationError> {
  try {
    return await context.req.arrayBuffer();
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return operationErrorOf(thrown, thrown.code);
    return invalid("The body did not come to its end.");
  }
}

/** Not by recursion: what is looked at may be deeper than any stack. */
function problemIn(root: UnknownMap): string | undefined {
  const open: { readonly value: object; readonly depth: number }[] = [{ value: root, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (depth > DEEPEST) return `The body is nested more than ${DEEPEST} levels deep.`;
    // It stands for an object's ancestry: code that copies fields one by one would take it for that.
    if (Object.hasOwn(value, "__proto__")) return 'The body has a field "__proto__".';
    for (const inner of Object.values(value)) {
      if (typeof inner === "object" && inner !== null) open.push({ value: inner, depth: depth + 1 });
    }
  }
  return undefined;
}

function invalid(message: string): OperationError {
  return operationError("invalid_body", message);
}

function tooLargeError(maxBytes: number): HoldfastError {
  const { code, message } = tooLarge(maxBytes);
  return holdfastError(code as ErrorCode, message);
}

function tooLarge(maxBytes: number): OperationError {
  return operationError("body_too_large", `A request to this place may bring ${maxBytes} bytes.`);
}
