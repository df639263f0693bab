// Notices a model that makes the same call over and over, whatever the calls return.
import { stableHash } from "../canonical-json.ts";
import { trim, wholeNumber } from "../coerce.ts";
import { emptyMap, isMap, type JsonMap, seal } from "../json.ts";

const DEFAULT_THRESHOLD = 3;
const LOWEST_THRESHOLD = 2;

/** What makes two calls the same call. */
export type CallIdentity = { readonly tool_name: string; readonly parameters_hash: string };

/** The same as it is reported, with one hash over both. */
type SpinSignature = CallIdentity & { readonly signature_hash: string };

/** The last call and how many times in a row it has been made. */
export type SpinState = CallIdentity & { readonly count: number };

/** What a stalled run reports. */
type Spin = SpinSignature & { readonly repeat_count: number; readonly threshold: number };

/** The number of equal calls in a row at which a run has stalled: 3 unless given, at least 2. */
export function normalizeThreshold(value: unknown): number {
  return wholeNumber(value, LOWEST_THRESHOLD) ?? DEFAULT_THRESHOLD;
}

/** What identifies a call: its name and the parameters as the model gave them. A hash of these that is known is not taken again. */
export function identity(toolName: string, parameters: JsonMap, knownHash?: string): CallIdentity {
  const parameters_hash = knownHash ?? stableHash(isMap(parameters) ? parameters : emptyMap);
  return seal({ parameters_hash, tool_name: trim(toolName) });
}

/** The identity as it is reported. */
export function signature({ tool_name, parameters_hash }: CallIdentity): SpinSignature {
  return seal({ tool_name, parameters_hash, signature_hash: stableHash({ parameters_hash, tool_name }) });
}

/** Counts a call; `fired` is there from the threshold on, until a different call begins a new count. */
export function record(
  state: SpinState | undefined,
  call: CallIdentity,
  threshold: number,
): { readonly state: SpinState; readonly fired?: Spin } {
  const { tool_name, parameters_hash } = call;
  const isSame = state?.parameters_hash === parameters_hash && state.tool_name === tool_name;
  const count = isSame ? state.count + 1 : 1;
  const next = seal({ tool_name, parameters_hash, count });
  if (count < threshold) return { state: next };
  return { state: next, fired: seal({ ...signature(call), repeat_count: count, threshold }) };
}
