// How a step and a run stand, in words.
import type { ShownTree } from "../../workflows/operations/tree.ts";
import { elapsedSoFar } from "./elapsed.ts";

type Step = ShownTree["steps"][number];

type Run = ShownTree["run"];

const reasons: Readonly<Record<NonNullable<Run["reason"]>, string>> = {
  paused: "paused",
  sleeping: "sleeps",
  retrying: "tries again later",
  waiting_for_event: "waits for an event",
  waiting_for_approval: "waits for a decision",
  waiting_for_request: "waits for a result",
  waiting_for_agent: "waits for an agent",
  waiting_for_workflow: "waits for another run",
};

export function runInWords({ status, reason }: Pick<Run, "status" | "reason">): string {
  return reason === null ? status : reasons[reason];
}

/** What stands behind the name of a step, its times excepted. */
export function detailsOf(step: Step, children: readonly Run[], now: number): readonly string[] {
  return [...partsOf(step), ...standingOf(step, children, now), ...failureOf(step)];
}

function partsOf({ type, parts, branches, status }: Step): readonly string[] {
  const [first] = branches;
  if (type === "branch") return first ? [first.name] : [];
  if (parts === null || (status === "pending" && parts.total === 0)) return [];
  const { total, pending, running, failed, cancelled } = parts;
  const counts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
    ...(running > 0 ? [`${running} under way`] : []),
  ];
  return [[`${total - pending - running}/${total}`, ...counts].join(", ")];
}

function standingOf(step: Step, children: readonly Run[], now: number): readonly string[] {
  const { status, attempt, until } = step;
  const left = until === null ? [] : [`${elapsedSoFar(Date.parse(until) - now)} left`];
  const again = attempt !== null && attempt > 1 ? [`attempt ${attempt}`] : [];
  switch (status) {
    case "retrying":
      return [
        `tries again, ${until === null ? "" : `in ${elapsedSoFar(Date.parse(until) - now)}, `}attempt ${attempt}`,
      ];
    case "waiting":
      return [[waitOf(step), ...left].join(", "), ...again];
    case "running":
      return [...childOf(step, children), ...again];
    case "skipped":
    case "cancelled":
      return [status];
    default:
      return [];
  }
}

function waitOf({ waits_for, event, request_id, type }: Step): string {
  switch (waits_for) {
    case "event":
      return event === null ? reasons.waiting_for_event : `waits for the event ${JSON.stringify(event)}`;
    case "request":
      return reasons.waiting_for_request;
    case "approval":
      return reasons.waiting_for_approval;
    case "agent":
      return reasons.waiting_for_agent;
    case "workflow":
      return reasons.waiting_for_workflow;
    case null:
      if (request_id !== null) return reasons.waiting_for_approval;
      return type === "sleep" ? reasons.sleeping : "waits";
  }
}

/** Who carries the step out. */
function childOf({ waits_for, child_id }: Step, children: readonly Run[]): readonly string[] {
  if (waits_for === "agent") return ["an agent is at work"];
  const child = children.find(({ run_id }) => run_id === child_id);
  return child ? [`${child.workflow_id}: ${runInWords(child)}`] : [];
}

function failureOf({ status, error_code }: Step): readonly string[] {
  return error_code === null || (status !== "failed" && status !== "cancelled") ? [] : [error_code];
}
