// What can go wrong: a sentence, and whether trying again could help.

export class Failure extends Error {
  readonly retry: boolean;

  constructor(message: string, retry: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "Failure";
    this.retry = retry;
  }
}

/** Trying again gives the same result. */
export const failure = (message: string, cause?: unknown) => new Failure(message, false, cause);

/** Trying again later may succeed. */
export const temporaryFailure = (message: string, cause?: unknown) => new Failure(message, true, cause);

/** The protocol's error response. An error that this plugin did not foresee may be retried. */
export function toErrorResponse(error: unknown) {
  const retry = error instanceof Failure ? error.retry : true;
  const message = error instanceof Error ? error.message : String(error);
  return { status: "error", error: message, retry, logs: [{ level: "error", message }] };
}
