// What the notes of a commit say about an attempt at a model, beside what the machine's records know of it.
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import type { Amounts } from "../../loop/records.ts";
import { withoutKeys } from "../../models/without-keys.ts";
import type { LogErrorType, LogRow } from "./log-row.ts";

type About = { readonly model: string | null; readonly prompt: string | null; readonly side: string | null };

export type AttemptNotes = {
  readonly answered?: About & {
    readonly finish_reason: string | null;
    readonly ttft_ms: number | null;
    readonly usage: UnknownMap | null;
  };
  readonly failed?: About & { readonly error: string | null; readonly code: string | null };
  /** Nobody saw the end of the attempt that was under way, and it is made again. Milliseconds. */
  readonly againAt?: number;
};

/** `notes` is what is stored: JSON of a list, or null. Between two attempts there is always a commit, so one of each. */
export function attemptNotes(notes: string | null): AttemptNotes {
  if (notes === null) return {};
  const read: unknown = JSON.parse(notes);
  const list = Array.isArray(read) ? read.filter(isMap) : [];
  const answered = metadataOf(list, "model_call");
  const failed = metadataOf(list, "model_failed");
  const againAt = count(metadataOf(list, "model_lost")?.at);
  return {
    ...(answered && {
      answered: {
        ...aboutOf(answered),
        finish_reason: text(answered.finish_reason),
        ttft_ms: count(answered.ttft_ms),
        usage: isMap(answered.usage) ? answered.usage : null,
      },
    }),
    ...(againAt !== null && { againAt }),
    ...(failed && { failed: { ...aboutOf(failed), error: shown(failed.error), code: text(failed.code) } }),
  };
}

type UsageColumns = Pick<
  LogRow,
  "input_tokens" | "cached_tokens" | "output_tokens" | "reasoning_tokens" | "total_tokens"
>;

/** What a provider counted; where it has not, what was charged for the answer says how much it was in all. */
export function usageColumns(usage: UnknownMap | null | undefined, spent: Amounts | undefined): UsageColumns {
  return {
    input_tokens: count(usage?.prompt_tokens),
    cached_tokens: count(usage?.cached_tokens),
    output_tokens: count(usage?.completion_tokens),
    reasoning_tokens: count(usage?.reasoning_tokens),
    total_tokens: count(usage?.total_tokens) ?? spent?.tokens ?? null,
  };
}

/** Codes of what is wrong on our side of the provider; anything else was its own. */
const ours: ReadonlySet<string> = new Set([
  "invalid_model_answer",
  "invalid_agent_conversation_loop",
  "script_ended",
  "summary_missing",
]);

export function errorTypeOf(code: string | null | undefined): LogErrorType {
  return code != null && ours.has(code) ? "step_execution_error" : "api_error";
}

function metadataOf(notes: readonly UnknownMap[], type: string): UnknownMap | undefined {
  const metadata = notes.find((note) => note.type === type)?.metadata;
  return isMap(metadata) ? metadata : undefined;
}

function aboutOf({ model, prompt, side }: UnknownMap): About {
  return { model: text(model), prompt: text(prompt), side: text(side) };
}

/** Clients like to repeat their keys in what they throw. */
function shown(error: unknown): string | null {
  return typeof error === "string" && error !== "" ? withoutKeys(error) : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}
