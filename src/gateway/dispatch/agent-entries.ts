// What the event stream says of agent runs: read off the state and the events of a turn, so that agents which know
// nothing of the stream are seen too.
import type { EmittedEvent } from "../../contracts/gateway/event.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
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
    if (!isMap(earlier)) {
      entries.push({ type: "agent.run_started", data: { agent, run_id } });
      continue;
    }
    const resumed = stepsIn(run).filter((step) => !stepsIn(earlier).includes(step));
    for (const step of resumed) entries.push({ type: "agent.step_resumed", data: { agent, run_id, step } });
  }
  for (const { type, payload } of events) {
    const { run_id = null, step = null, tool = null, attempt = 1, reason = null, steps_taken = null } = payload;
    if (type.startsWith(REQUEST)) {
      entries.push({ type: "agent.step_requested", data: { agent, run_id, step, tool, attempt } });
    } else if (type === "agent.completed") {
      entries.push({ type: "agent.completed", data: { agent, run_id, steps_taken } });
    } else if (type === "agent.escalated") {
      entries.push({ type: "agent.escalated", data: { agent, run_id, reason } });
    }
  }
  return entries;
}

function runsIn(state: JsonMap): JsonMap {
  const { runs } = state;
  return isMap(runs) ? (runs as JsonMap) : {};
}

function stepsIn(run: { readonly [key: string]: unknown }): readonly number[] {
  const { completed_steps: steps } = run;
  return Array.isArray(steps) ? steps.filter((step) => typeof step === "number") : [];
}
