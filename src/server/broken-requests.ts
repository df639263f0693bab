// Requests that cannot be read: they are refused before anything knows what they are, in the same words as all others.
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import { problemOf } from "./problem.ts";

/** Codes of Node's parser that tell more than that something is wrong. */
const refusals: Readonly<Record<string, OperationError>> = {
  HPE_HEADER_OVERFLOW: operationError("headers_too_large", "The headers are longer than 16 kB."),
  ERR_HTTP_REQUEST_TIMEOUT: operationError("request_timeout", "The request took too long to come."),
};

/** For what the parser refuses: headers that contradict each other, bytes that are no HTTP, and what comes too slowly. */
export function answerBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  // There is nobody left to answer to, or the answer to another request is on its way to them.
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const refusal = refusals[error.code ?? ""] ?? operationError("invalid_request", "The request is no HTTP.");
  const told = problemOf(refusal, randomUUID());
  const body = JSON.stringify(told);
  const head = [
    `HTTP/1.1 ${told.status} ${told.title}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${told.request_id}`,
    "X-Content-Type-Options: nosniff",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Node keeps the answer that is being written with its connection. */
function isAnswering(socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false;
}

/** For what is HTTP, and has no host or no path that could be read; and for whatever else goes wrong outside the app. */
export function answerUnreadable(thrown: unknown): Response {
  const isRequest = thrown instanceof Error && thrown.name === "RequestError";
  const refusal = isRequest
    ? operationError("invalid_request", "The request names no host, or no path, that could be read.")
    : operationError("internal_error", "Something went wrong before the request was read.");
  const told = problemOf(refusal, randomUUID());
  const headers = { "Content-Type": "application/problem+json", "X-Content-Type-Options": "nosniff" };
  return new Response(JSON.stringify(told), { status: told.status, headers });
}
