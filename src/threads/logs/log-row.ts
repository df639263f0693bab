// One row of a thread's logs: an attempt at a model, or a tool that ran.

/** What went wrong, in the words of Standard Agents. */
export type LogErrorType =
  | "api_error"
  | "user_interrupted"
  | "interrupted_incomplete"
  | "step_execution_error"
  | "all_retries_exhausted";

/** What is not known is null. Holds no content: neither messages, nor arguments, nor results. */
export type LogRow = {
  /** The same whenever the logs are read. */
  readonly id: string;
  /** Null for an attempt at a model. */
  readonly kind: "tool_execution" | null;
  /** The first message that the answer became, or the one that holds the result. */
  readonly message_id: string | null;
  readonly model: string | null;
  readonly prompt_name: string | null;
  readonly side: string | null;
  readonly input_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly total_tokens: number | null;
  /** US dollars. Of an attempt that nobody saw the end of, the most it can have cost. */
  readonly cost_total: number | null;
  readonly latency_ms: number | null;
  readonly time_to_first_token_ms: number | null;
  readonly finish_reason: string | null;
  readonly error: string | null;
  readonly error_type: LogErrorType | null;
  /** `runtime`, `provider:<name>` or `tool:<name>`. */
  readonly error_origin: string | null;
  /** The tools that ran because the answer called them; of a tool, its own name. */
  readonly tools_called: readonly string[];
  /** The attempt whose answer made the call that this belongs to. */
  readonly parent_log_id: string | null;
  /** The attempt before, when that came to nothing. */
  readonly retry_of_log_id: string | null;
  /** False while it is under way. */
  readonly is_complete: boolean;
  /** Microseconds since 1970. */
  readonly created_at: number;
};

/** A row of which only the beginning is known. */
export function begunRow(about: Pick<LogRow, "id" | "created_at"> & Partial<LogRow>): LogRow {
  return {
    kind: null,
    message_id: null,
    model: null,
    prompt_name: null,
    side: null,
    input_tokens: null,
    cached_tokens: null,
    output_tokens: null,
    reasoning_tokens: null,
    total_tokens: null,
    cost_total: null,
    latency_ms: null,
    time_to_first_token_ms: null,
    finish_reason: null,
    error: null,
    error_type: null,
    error_origin: null,
    tools_called: [],
    parent_log_id: null,
    retry_of_log_id: null,
    is_complete: false,
    ...about,
  };
}
