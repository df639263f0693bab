// Telling somebody what went wrong while a thread ran, without its secrets.
import { errorMessage, HoldfastError } from "../contracts/error.ts";
import type { Host } from "./host.ts";
import type { KnownSecrets } from "./secrets/known-secrets.ts";
import { shownError } from "./secrets/shown-error.ts";

/** Whoever is told of errors may fail too: that ends nothing here. */
export function reporting(onError: (error: unknown, threadId: string) => void, secrets: KnownSecrets): Host["report"] {
  return (error, threadId) => {
    try {
      onError(shownError(error, secrets), threadId);
    } catch {
      // There is nobody left to tell.
    }
  };
}

/** What went wrong in a line, and what to do about it in another. */
export function printError(error: unknown, threadId: string): void {
  console.error(`holdfast: ${threadId === "" ? "" : `thread ${threadId}: `}${errorMessage(error)}`);
  if (error instanceof HoldfastError) console.error(`holdfast: ${error.hint}`);
}
