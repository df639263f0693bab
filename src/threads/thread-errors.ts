// What is said about a thread that cannot be used as somebody wanted.
import { type HoldfastError, holdfastError } from "../contracts/error.ts";

export function threadNotFound(id: string): HoldfastError {
  return holdfastError("thread_not_found", `There is no thread "${String(id)}".`);
}

export function threadStuck(id: string): HoldfastError {
  return holdfastError("thread_stuck", `Thread "${id}" was taken three times without getting on, and is left alone.`);
}

export function threadTerminated(id: string, words: string): HoldfastError {
  return holdfastError("thread_terminated", `Thread "${id}" was terminated ${words}.`);
}

export function threadStopped(id: string) {
  return holdfastError("thread_stopped", `Thread "${id}" was stopped before it took the message in.`);
}
