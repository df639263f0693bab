// What happened in a run, in the order in which it was committed: names of steps and outcomes, and nothing of what they work with.
import type { StoredEvent } from "../../backend/thread-rows.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Fact } from "../machine/facts.ts";
import { ROLLBACK } from "../machine/path.ts";
import type { Working } from "../machine/working.ts";
import type { LoggedFact } from "./run-batch.ts";
import { runNotFound } from "./run-errors.ts";
import type { RunHost } from "./run-host.ts";
import { openRun } from "./run-view.ts";
import { idOfStep } from "./step-id.ts";

export type RunEvent = {
  /** `<commit>.<place in it>`: ordered, and good for coming back. */
  readonly id: string;
  readonly type: Fact["type"];
  /** Microseconds since 1970. */
  readonly at: number;
  /** The number of the attempt at the run. */
  readonly attempt: number;
  /** Where the step or the part stands, by positions. */
  readonly path?: string;
  /** The id of the step that stands there. */
  readonly step?: string;
  readonly as?: string;
  /** How many parts a step has opened. */
  readonly count?: number;
  readonly until?: number | null;
};

const PAGE = 200;

/** Throws `workflow_run_not_found` and `invalid_stream_position`. */
export async function readRunEvents(
  host: RunHost,
  id: string,
  { after, limit = PAGE }: { readonly after?: string; readonly limit?: number } = {},
): Promise<readonly RunEvent[]> {
  const reader = await createEventReader(host, id);
  return (await reader.after(after, limit)).slice(0, limit);
}

export type EventReader = {
  /** At least those of the next commit, where there is one. */
  after(id: string | undefined, limit: number): Promise<readonly RunEvent[]>;
};

export async function createEventReader(host: RunHost, id: string): Promise<EventReader> {
  const first = await openRun(host, id);
  if (!first) throw runNotFound(id);
  let { working } = first;
  return {
    async after(last, limit) {
      const { seq, place } = readPosition(last);
      const events = host.threads.stores.threads;
      // The commit of the last event may have more of them, and what follows is wanted as well.
      const stored = await events.events(id, { after: seq - 1, limit: limit + 1 });
      // What is undone is known once the run is rolled back.
      const isUndone = stored.some(({ records }) => records.includes(`"${ROLLBACK}/`));
      if (isUndone) working = (await openRun(host, id))?.working ?? working;
      return stored
        .flatMap((event) => eventsOf(event, working))
        .filter((event) => {
          const at = readPosition(event.id);
          return at.seq > seq || at.place > place;
        });
    },
  };
}

function readPosition(id: string | undefined): { readonly seq: number; readonly place: number } {
  if (id === undefined) return { seq: 0, place: -1 };
  const [, seq, place] = /^(\d{1,15})\.(\d{1,9})$/.exec(id) ?? [];
  if (seq !== undefined && place !== undefined) return { seq: Number(seq), place: Number(place) };
  throw holdfastError("invalid_stream_position", `"${id}" is no id of an event.`);
}

function eventsOf({ seq, run, at, records }: StoredEvent, working: Working): RunEvent[] {
  return (JSON.parse(records) as LoggedFact[]).map((fact, place) => {
    const { type } = fact;
    const path = "path" in fact ? { path: fact.path, ...stepIn(fact.path, type, working) } : {};
    return {
      ...{ id: `${seq}.${place}`, type, at, attempt: run, ...path },
      ...("as" in fact && { as: fact.as }),
      ...("count" in fact && { count: fact.count }),
      ...("until" in fact && { until: fact.until }),
    };
  });
}

function stepIn(path: string, type: Fact["type"], working: Working): { readonly step?: string } {
  if (!type.startsWith("step.") && type !== "parts.opened") return {};
  const step = idOfStep(working, path);
  return step === undefined ? {} : { step };
}
