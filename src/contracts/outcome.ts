// How somebody else's code answers, whatever it was asked.
import type { Control } from "./standard/control.ts";

/** How a call into somebody else's code came back. */
export type Outcome = ({ readonly returned: unknown } | { readonly threw: unknown }) & {
  /** What a model counted on the way, where the answer itself does not say. */
  readonly usage?: unknown;
  /** True when a model had begun to answer before it threw, so that the attempt may have to be paid for. */
  readonly hasSpoken?: boolean;
  /** What a tool asks of the run beside its result. */
  readonly control?: Control;
};
