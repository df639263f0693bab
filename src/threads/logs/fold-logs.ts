// From the record log of a thread to its logs: nothing about an attempt is stored a second time. Pure, so that what is
// told of a history can be tested as a table.
import type { StoredCall, StoredEvent } from "../../backend/thread-rows.ts";
import { unpackRecords } from "../../loop/packed-records.ts";
import type { Amounts, Fact, LogRecord } from "../../loop/records.ts";
import { type AttemptNotes, attemptNotes, errorTypeOf, usageColumns } from "./attempt-notes.ts";
import { begunRow, type LogRow } from "./log-row.ts";

/** The rows, oldest first. `calls` is the ledger of the same thread; what began later than the events say is left out. */
export function foldLogs(
  threadId: string,
  events: readonly Pick<StoredEvent, "seq" | "run" | "records" | "notes" | "messages_from" | "messages_to" | "at">[],
  calls: readonly StoredCall[],
): readonly LogRow[] {
  const fold = new LogFold(threadId, calls);
  for (const event of events) fold.take(event);
  return fold.rows;
}

type TakenEvent = Parameters<typeof foldLogs>[1][number];
type Mutable<Row> = { -readonly [Key in keyof Row]: Row[Key] };
type Attempt = { readonly row: Mutable<LogRow>; readonly begunAt: number; readonly reserved: Amounts | undefined };

class LogFold {
  readonly rows: Mutable<LogRow>[] = [];
  readonly #threadId: string;
  readonly #calls: ReadonlyMap<string, StoredCall>;
  #open: Attempt | null = null;
  /** The one whose answer is being acted upon. */
  #answered: Attempt | null = null;
  /** The one that came to nothing, and is tried again. */
  #failed: string | null = null;
  /** For each prompt that speaks for a call: the attempt whose answer made that call. */
  readonly #callers: (Attempt | null)[] = [];

  constructor(threadId: string, calls: readonly StoredCall[]) {
    this.#threadId = threadId;
    this.#calls = new Map(calls.map((call) => [`${call.run}:${call.number}`, call]));
  }

  take(event: TakenEvent): void {
    // What is no step of the machine, such as that a thread is a fork, has neither a number nor a time.
    const records = unpackRecords(event.records).filter(({ seq }) => seq !== undefined);
    const notes = attemptNotes(event.notes);
    if (notes.againAt !== undefined) this.#beginAgain(notes.againAt, event, records);
    for (const record of records) this.#record(record, event, notes);
  }

  #record({ seq, at, fact }: LogRecord, event: TakenEvent, notes: AttemptNotes): void {
    const id = `${this.#threadId}:${event.seq}:${seq}`;
    switch (fact.type) {
      case "flow.started":
        this.#lose();
        this.#answered = this.#failed = null;
        this.#callers.length = 0;
        break;
      case "begun":
        this.#begin(fact, { id, at }, event);
        break;
      case "effect.released":
        // It was never sent.
        if (this.#open) this.rows.splice(this.rows.lastIndexOf(this.#open.row), 1);
        this.#open = null;
        break;
      case "attempt.lost":
        this.#lose();
        break;
      case "effect.postponed":
        this.#failed = this.#fail(notes, at, fact.spent, false) ?? this.#failed;
        break;
      case "model.responded":
      case "compacted":
        this.#answer(notes, at, fact, event);
        break;
      case "compaction.failed":
      case "model.failed":
        this.#fail(notes, at, fact.spent, true);
        this.#failed = null;
        break;
      case "interrupted":
        this.#interrupt(at, fact.spent);
        break;
      case "queue.accepted":
        this.#answered = null;
        break;
      case "frame.pushed":
        this.#callers.push(this.#answered);
        break;
      case "frame.popped":
        this.#answered = this.#callers.pop() ?? null;
        break;
      default:
        break;
    }
  }

  #begin({ effect, reserved }: Extract<Fact, { type: "begun" }>, begun: { id: string; at: number }, event: TakenEvent) {
    const { id, at } = begun;
    if (effect.kind === "run_tool") this.#beginTool(id, event, effect.call);
    if (effect.kind !== "call_model" && effect.kind !== "summarize") return;
    this.#lose();
    const retry_of_log_id = this.#failed;
    const parent_log_id = this.#callers.at(-1)?.row.id ?? null;
    const row = begunRow({ id, created_at: event.at, retry_of_log_id, parent_log_id });
    this.rows.push(row);
    this.#open = { row, begunAt: at, reserved };
  }

  /** The machine says so itself where an attempt costs something, or is not made again because its time is up. */
  #beginAgain(begunAt: number, event: TakenEvent, records: readonly LogRecord[]): void {
    const open = this.#open;
    if (!open || records.some(({ fact }) => fact.type === "attempt.lost")) return;
    this.#lose();
    const { parent_log_id } = open.row;
    const about = { id: `${this.#threadId}:${event.seq}`, created_at: event.at, parent_log_id };
    const row = begunRow({ ...about, retry_of_log_id: this.#failed });
    this.rows.push(row);
    this.#open = { row, begunAt, reserved: open.reserved };
  }

  #beginTool(id: string, { run, at }: TakenEvent, number: number): void {
    const call = this.#calls.get(`${run}:${number}`);
    if (!call) return;
    const { tool_name, settled_at, begun_at, outcome, message_seq, phase } = call;
    const caller = this.#answered?.row;
    const hasFailed = outcome !== null && outcome !== "success";
    if (caller) caller.tools_called = [...caller.tools_called, tool_name];
    this.rows.push(
      begunRow({
        id,
        kind: "tool_execution",
        created_at: at,
        parent_log_id: caller?.id ?? null,
        prompt_name: caller?.prompt_name ?? null,
        side: caller?.side ?? null,
        tools_called: [tool_name],
        message_id: message_seq === null ? null : String(message_seq),
        latency_ms: settled_at === null ? null : Math.max(0, Math.round((settled_at - begun_at) / 1000)),
        is_complete: phase === "settled" || phase === "unknown",
        ...(hasFailed && { error: outcome, error_origin: `tool:${tool_name}` }),
      }),
    );
  }

  #answer({ answered }: AttemptNotes, at: number, fact: Fact & { spent?: Amounts }, event: TakenEvent): void {
    const attempt = this.#close(at, fact.spent);
    if (!attempt) return;
    this.#failed = null;
    const { row } = attempt;
    const isOfModel = fact.type === "model.responded";
    const hasMessages = event.messages_to > event.messages_from;
    // In the commit that takes an answer in, what the answer says comes first.
    if (isOfModel && hasMessages) row.message_id = String(event.messages_from);
    Object.assign(row, columnsOf(answered), usageColumns(answered?.usage, fact.spent));
    if (isOfModel) this.#answered = attempt;
  }

  /** The id of the attempt that came to nothing; `isLast` when no other follows. */
  #fail({ failed }: AttemptNotes, at: number, spent: Amounts | undefined, isLast: boolean): string | null {
    // An answer may turn out to say that the provider failed.
    const attempt = this.#close(at, spent) ?? (isLast ? this.#answered : null);
    if (!attempt) return null;
    const { row } = attempt;
    Object.assign(row, columnsOf(failed));
    row.error = failed?.error ?? "The attempt came to nothing.";
    row.error_type = isLast && row.retry_of_log_id !== null ? "all_retries_exhausted" : errorTypeOf(failed?.code);
    row.error_origin = originOf(row.model);
    return row.id;
  }

  #interrupt(at: number, spent: Amounts | undefined): void {
    const attempt = this.#close(at, spent);
    if (!attempt) return;
    attempt.row.error = "Somebody stopped the run.";
    attempt.row.error_type = "user_interrupted";
    attempt.row.error_origin = "runtime";
  }

  /** Nobody saw the end of what is open: whoever was at work on it is gone. */
  #lose(): void {
    const attempt = this.#close(null, this.#open?.reserved);
    if (!attempt) return;
    attempt.row.error = "Nobody saw the end of the attempt.";
    attempt.row.error_type = "interrupted_incomplete";
    attempt.row.error_origin = "runtime";
    this.#failed = attempt.row.id;
  }

  #close(at: number | null, spent: Amounts | undefined): Attempt | null {
    const attempt = this.#open;
    this.#open = null;
    if (!attempt) return null;
    const { row, begunAt } = attempt;
    row.is_complete = true;
    row.latency_ms = at === null ? null : Math.max(0, at - begunAt);
    if (spent && spent.nanodollars > 0) row.cost_total = spent.nanodollars / 1e9;
    return attempt;
  }
}

/** What a note says of an attempt; what it does not say stays as it is. */
function columnsOf(note: AttemptNotes["answered"] | AttemptNotes["failed"]): Partial<LogRow> {
  if (!note) return {};
  const { model, prompt, side } = note;
  return {
    ...(model !== null && { model }),
    ...(prompt !== null && { prompt_name: prompt }),
    ...(side !== null && { side }),
    ...("finish_reason" in note && { finish_reason: note.finish_reason, time_to_first_token_ms: note.ttft_ms }),
  };
}

/** The word before the slash is the provider's name. */
function originOf(model: string | null): string {
  const slash = model?.indexOf("/") ?? -1;
  return model !== null && slash > 0 ? `provider:${model.slice(0, slash)}` : "runtime";
}
