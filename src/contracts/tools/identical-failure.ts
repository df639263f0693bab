// Notices a call that keeps failing in the same way, and says so to the model. Successes in between do not count and
// do not reset the count; only a different failure does.
import { stableHash } from "../canonical-json.ts";
import { trim, wholeNumber } from "../coerce.ts";
import { emptyMap, isMap, type JsonMap, seal, type UnknownMap } from "../json.ts";

const DEFAULT_THRESHOLD = 2;
const LOWEST_THRESHOLD = 2;

/** What makes two failures the same failure. */
type FailureSignature = {
  readonly tool_name: string;
  readonly parameters_hash: string;
  readonly error_code: string;
  readonly signature_hash: string;
};

/** The last failure and how many times in a row it has been seen. */
export type FailureState = { readonly signature_hash: string; readonly count: number };

/** What is reported, and the message for the model. */
type Nudge = FailureSignature & {
  readonly repeat_count: number;
  readonly threshold: number;
  readonly message: string;
};

/** The number of equal failures in a row from which the model is told: 2 unless given, at least 2. */
export function normalizeThreshold(value: unknown): number {
  return wholeNumber(value, LOWEST_THRESHOLD) ?? DEFAULT_THRESHOLD;
}

/** The signature of a failed call, from its parameters as the model gave them. */
export function signature(toolName: string, parameters: JsonMap, result: UnknownMap): FailureSignature {
  const identity = {
    tool_name: trim(toolName),
    parameters_hash: stableHash(isMap(parameters) ? parameters : emptyMap),
    error_code: errorCode(result),
  };
  return seal({ ...identity, signature_hash: stableHash(identity) });
}

/** Counts a failure; `nudge` is there from the threshold on, until a different failure begins a new count. */
export function record(
  state: FailureState | undefined,
  failure: FailureSignature,
  threshold: number,
): { readonly state: FailureState; readonly nudge?: Nudge } {
  const { signature_hash } = failure;
  const count = state?.signature_hash === signature_hash ? state.count + 1 : 1;
  const next = seal({ signature_hash, count });
  if (count < threshold) return seal({ state: next });
  const nudge = seal({ ...failure, repeat_count: count, threshold, message: nudgeText(failure, count) });
  return seal({ state: next, nudge });
}

function errorCode(result: UnknownMap): string {
  const metadata = isMap(result.metadata) ? result.metadata : {};
  const candidates = [result.error_code, result.code, metadata.error_type, metadata.error_code, metadata.code];
  for (const candidate of candidates) {
    const code =
      typeof candidate === "number" ? String(candidate) : typeof candidate === "string" ? trim(candidate) : "";
    // Replaced before lowering: some letters outside ASCII have a lower case inside it.
    if (code !== "") return code.replace(/[^A-Za-z0-9_-]+/g, "_").toLowerCase();
  }
  const hash = stableHash(typeof result.error === "string" ? result.error : "tool_execution_failed");
  return `error_${hash.slice("sha256:".length, "sha256:".length + 12)}`;
}

function nudgeText({ tool_name, error_code }: FailureSignature, count: number): string {
  return (
    `The tool ${tool_name} has failed ${count} times in a row with the same parameters and the same error ` +
    `(${error_code}). Repeating the call will not help: change the parameters, use another tool, or explain what is missing.`
  );
}
