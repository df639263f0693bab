// What the event stream says of agent runs: read off the state and the events of a turn, so that agents which know
// nothing of the stream are seen too.
import type { EmittedEvent } from "../../../contracts/gateway/protocol/event.ts";
import { isMap, type Json, type JsonMap } from "../../../contracts/json.ts";
import type { StreamEvent } from "./new-child.ts";

const REQUEST = "agentic.tool_request.";

type Turn = {
  readonly agent: string;
  /** The agent's state before the turn and after it. */
  readonly before: JsonMap;
  readonly after: JsonMap;
  readonly events: readonly EmittedEvent[];
};

/** In the order in which things happened: a run starts or a step resumes, then the next step is requested or the run ends. */
export function agentEntries({ agent, before, after, events }: Turn): readonly StreamEvent[] {
  const entries: StreamEvent[] = [];
  const known = runsIn(before);
  for (const [run_id, run] of Object.entries(runsIn(after))) {
    const earlier = Object.hasOwn(known, run_id) ? known[run_id] : undefined;
    if (!isMap(run)) continue;
    const about = { agent, run_id: nameOf(run_id) };
    if (!isMap(earlier)) {
      entries.push({ type: "agent.run_started", data: about });
      continue;
    }
    const seen = new Set(stepsIn(earlier));
    const resumed = stepsIn(run).filter((step) => !seen.has(step));
    for (const step of resumed) entries.push({ type: "agent.step_resumed", data: { ...about, step } });
  }
  for (const { type, payload } of events) {
    const about = { agent, run_id: nameOf(payload.run_id) };
    if (type.startsWith(REQUEST)) {
      const { step, attempt = 1 } = payload;
      const request = { step: countOf(step), tool: nameOf(payload.tool), attempt: countOf(attempt) };
      entries.push({ type: "agent.step_requested", data: { ...about, ...request } });
    } else if (type === "agent.completed") {
      entries.push({ type: "agent.completed", data: { ...about, steps_taken: countOf(payload.steps_taken) } });
    } else if (type === "agent.escalated") {
      entries.push({ type: "agent.escalated", data: { ...about, reason: nameOf(payload.reason) } });
    }
  }
  return entries.slice(0, MOST_ENTRIES);
}

function runsIn(state: JsonMap): JsonMap {
  const { runs } = state;
  return isMap(runs) ? (runs as JsonMap) : {};
}

function stepsIn(run: { readonly [key: string]: unknown }): readonly number[] {
  const { completed_steps: steps } = run;
  return Array.isArray(steps) ? steps.filter((step) => countOf(step) !== null) : [];
}

const LONGEST_NAME = 256;
/** Of one turn. */
const MOST_ENTRIES = 1_000;

/** Agents of other makers choose what they say of their runs, and payloads have no place in the stream. */
function nameOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value.slice(0, LONGEST_NAME).toWellFormed() : null;
}

function countOf(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}
