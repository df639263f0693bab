// What a host's own handlers report about a run that the host keeps itself. A report that is none becomes a refusal
// with the code of the operation that asked.
import { scalarText, truthy } from "../coerce.ts";
import { HoldfastError } from "../error.ts";
import { asMap, type JsonMap, seal, snapshotMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import { normalizeRun, type Run } from "./run-control.ts";

/** A run after somebody asked it to stop. */
export type CancelledRun = Run & { readonly cancelled: boolean };

/** An event of a run as a host tells it; its type is the host's own word. */
type ReportedEvent = {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly metadata: JsonMap;
  readonly message?: string;
};

export type ReportedEvents = Run & {
  readonly events: readonly ReportedEvent[];
  readonly cursor: string;
  readonly has_more: boolean;
};

/** How one kind of run is read; it throws for what is none. */
type Normalize = (value: unknown) => Run;

/** A run as a status handler reports it; a refusal with the given code when it is no run. */
export function normalizeStatusResult(
  result: unknown,
  code: string,
  normalize: Normalize = normalizeRun,
): Run | OperationError {
  return readReport(result, code, normalize, (run) => run);
}

/** A run as a cancel handler reports it. Unless it says so itself, its status tells whether it was cancelled. */
export function normalizeCancelResult(
  result: unknown,
  code: string,
  normalize: Normalize = normalizeRun,
): CancelledRun | OperationError {
  return readReport(result, code, normalize, (run) =>
    seal({ ...run, cancelled: run.cancelled ?? (run.status === "cancelling" || run.status === "cancelled") }),
  );
}

/** A run and a page of its events as an events handler reports them; what is no event is left out. */
export function normalizeEventsResult(
  result: unknown,
  code: string,
  normalize: Normalize = normalizeRun,
): ReportedEvents | OperationError {
  return readReport(result, code, normalize, (run, { events, cursor, has_more }) =>
    seal({
      ...run,
      events: seal(Array.isArray(events) ? events.flatMap(readEvent) : []),
      cursor: scalarText(cursor) ?? "",
      has_more: truthy(has_more),
    }),
  );
}

function readEvent(value: unknown): ReportedEvent[] {
  const given = asMap(value);
  if (given === undefined) return [];
  const message = scalarText(given.message);
  const event = {
    id: scalarText(given.id) ?? "",
    type: scalarText(given.type) ?? "",
    created_at: scalarText(given.created_at) ?? "",
    metadata: snapshotMap(given.metadata),
    ...(message !== undefined && { message }),
  };
  return [seal(event)];
}

function readReport<Report>(
  result: unknown,
  code: string,
  normalize: Normalize,
  read: (run: Run, given: JsonMap) => Report,
): Report | OperationError {
  try {
    const given = snapshotMap(result);
    return read(normalize(given), given);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return operationError(code, `The handler's answer is no run: ${thrown.detail}`);
  }
}
