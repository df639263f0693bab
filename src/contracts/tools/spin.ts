// Notices a model that makes the same call over and over, whatever the calls return.
import { stableHash } from "../canonical-json.ts";
import { trim, wholeNumber } from "../coerce.ts";
import { emptyMap, isMap, type JsonMap, seal } from "../json.ts";

const DEFAULT_THRESHOLD = 3;
const LOWEST_THRESHOLD = 2;

/** What makes two calls the same call. */
type SpinSignature = {
  readonly tool_name: string;
  readonly parameters_hash: string;
  readonly signature_hash: string;
};

/** The last call and how many times in a row it has been made. */
export type SpinState = { readonly signature_hash: string; readonly count: number };

/** What a stalled run reports. */
type Spin = SpinSignature & { readonly repeat_count: number; readonly threshold: number };

/** The number of equal calls in a row at which a run has stalled: 3 unless given, at least 2. */
export function normalizeThreshold(value: unknown): number {
  return wholeNumber(value, LOWEST_THRESHOLD) ?? DEFAULT_THRESHOLD;
}

/** The signature of a call, from its parameters as the model gave them; a hash of them that is known is not taken again. */
export function signature(toolName: string, parameters: JsonMap, knownHash?: string): SpinSignature {
  const parameters_hash = knownHash ?? stableHash(isMap(parameters) ? parameters : emptyMap);
  const identity = { parameters_hash, tool_name: trim(toolName) };
  return seal({ ...identity, signature_hash: stableHash(identity) });
}

/** Counts a call; `fired` is there from the threshold on, until a different call begins a new count. */
export function record(
  state: SpinState | undefined,
  call: SpinSignature,
  threshold: number,
): { readonly state: SpinState; readonly fired?: Spin } {
  const { signature_hash } = call;
  const count = state?.signature_hash === signature_hash ? state.count + 1 : 1;
  const next = seal({ signature_hash, count });
  if (count < threshold) return seal({ state: next });
  return seal({ state: next, fired: seal({ ...call, repeat_count: count, threshold }) });
}
