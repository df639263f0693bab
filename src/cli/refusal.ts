// What a verb ends with when something was refused: the code, the sentence and what to do, on stderr, and an exit code that
// scripts can tell apart.
import { errorMessage, HoldfastError, hintOf } from "../contracts/error.ts";
import type { OperationError } from "../contracts/operation-error.ts";
import { statusOf } from "../server/problem.ts";

export const exitCodes = {
  ok: 0,
  /** Refused or failed. */
  failed: 1,
  /** The command line itself cannot be read, or says what no operation takes. */
  usage: 2,
  /** What was named is not there. */
  notFound: 3,
  /** No token, a wrong one, or one that may not do this. */
  forbidden: 4,
  /** Neither a server nor a database answers. */
  unreachable: 5,
  interrupted: 130,
} as const;

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;
  readonly hint: string | undefined;
  /** What another process ended with, where that is what happened. */
  readonly exitCode: number | undefined;

  constructor(
    { code, message, exitCode }: OperationError & { readonly exitCode?: number },
    hint: string | undefined = hintOf(code),
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** Anything that was thrown, as a refusal. What nobody planned for is told in its own words, without a trace. */
export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  if (thrown instanceof HoldfastError) {
    return new Refusal({ code: thrown.code, message: thrown.detail }, thrown.hint, thrown);
  }
  return new Refusal({ code: "unexpected", message: errorMessage(thrown) }, undefined, thrown);
}

export function exitCodeOf({ code, exitCode }: Refusal): number {
  if (exitCode !== undefined) return exitCode;
  if (code === "aborted") return exitCodes.interrupted;
  if (code === "usage" || code === "invalid_input") return exitCodes.usage;
  if (code === "server_unreachable" || code.startsWith("database_")) return exitCodes.unreachable;
  switch (statusOf(code)) {
    case 401:
    case 403:
      return exitCodes.forbidden;
    case 404:
      return exitCodes.notFound;
    default:
      return exitCodes.failed;
  }
}
