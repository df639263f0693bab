// How asking a model fails: what kind of failure it is decides whether it is asked again, or another one instead.
import { HoldfastError } from "../contracts/error.ts";

/**
 * - `model_unavailable`: busy, out of reach or in trouble; later it may well answer.
 * - `model_answer_broken`: the answer broke off, or cannot be read; the next one may be whole.
 * - `model_stalled`: nothing came for too long; another model is the better choice.
 * - `model_refused`: it will refuse this request every time, because of a key, a name or what was asked.
 */
export type ModelFailureCode = "model_unavailable" | "model_answer_broken" | "model_stalled" | "model_refused";

export class ModelFailure extends HoldfastError {
  /** The HTTP status, if there was one. */
  readonly status: number | null;
  /** Seconds that the provider asks to be left alone. */
  readonly retryAfter: number | null;
  /** True when it had begun to answer, so that the attempt may have to be paid for. */
  readonly hasSpoken: boolean;

  constructor(
    code: ModelFailureCode,
    detail: string,
    about: { status?: number | null; retryAfter?: number | null; hasSpoken?: boolean; cause?: unknown } = {},
  ) {
    super(code, detail, about.cause);
    this.status = about.status ?? null;
    this.retryAfter = about.retryAfter ?? null;
    this.hasSpoken = about.hasSpoken ?? false;
  }
}
