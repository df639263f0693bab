// How the tools for subagents refuse: a result that says in words, by a code and in data what was wrong.
import { HoldfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";

export type Refusal = {
  readonly success: false;
  readonly error: string;
  readonly metadata: { readonly error_type: string; readonly error_code: string; readonly error_data: JsonMap };
};

export function refusal(error: string, code: string, data: JsonMap = {}): Refusal {
  return { success: false, error, metadata: { error_type: code, error_code: code, error_data: data } };
}

/** Mistakes of whoever asked, which he can put right; anything else that is thrown is none of his. */
const MISTAKES: ReadonlySet<string> = new Set([
  ...["file_not_found", "invalid_file_path", "file_is_directory", "too_many_files", "file_too_large"],
  ...["subagent_too_deep", "agent_not_found"],
]);

/** What a mistake came to; throws what is none. */
export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof HoldfastError && MISTAKES.has(thrown.code)) return refusal(thrown.detail, thrown.code);
  throw thrown;
}
