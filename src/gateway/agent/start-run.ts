// The first turn of a run: frame, plan, and the first tool request.
import { nonBlank } from "../../contracts/coerce.ts";
import type { Escalation } from "../../contracts/gateway/agent/agentic-event.ts";
import {
  derivedRunId,
  newRun,
  type RunFacts,
  storedRuns,
  workspaceRef,
} from "../../contracts/gateway/agent/agentic-run.ts";
import type { PluginResponse } from "../../contracts/gateway/protocol/response.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { stepBudget } from "./agent-config.ts";
import { ignore, refuse } from "./answer.ts";
import { demand, type Plan, readFrame, readPlan } from "./planner/planner.ts";
import { requestTool } from "./request-tool.ts";
import { draftRun, type RunDraft } from "./run-draft.ts";
import { catalogueOf } from "./tools.ts";
import { plannerOptions, type Turn } from "./turn-ports.ts";
import { emptyMemory, framedMemory, renderContext, renderMemory, renderPlan } from "./workspace/notes.ts";

/** Goals are stored in the agent's state, of which there is one for all runs. */
const LONGEST_GOAL = 32_768;
const LONGEST_RUN_ID = 200;

/** A start that cannot be carried out creates no run. */
export async function startRun(turn: Turn, payload: JsonMap): Promise<PluginResponse> {
  const { request, config, state } = turn;
  const goal = nonBlank(payload.goal) ?? nonBlank(payload.text);
  const run_id = namedRunId(payload.run_id) ?? derivedRunId(request.job_id);
  const problem = goalProblem(goal) ?? runIdProblem(run_id);
  if (goal === undefined || problem !== undefined) return refuse({ run_id }, problem ?? "the goal is missing");
  if (Object.hasOwn(storedRuns(state), run_id)) return ignore("info", { run_id }, "the run has been started before");

  const context = isMap(payload.context) ? (payload.context as JsonMap) : {};
  const { max_reframes } = config;
  const workspace_ref = workspaceRef(request.job_id);
  const run = newRun({ goal, max_steps: stepBudget(config, context), max_reframes, workspace_ref }, turn.now);
  const draft = draftRun(turn, {
    workspace_ref,
    subject: { run_id },
    at: { step: 1, attempt: 1 },
    steps_taken: 0,
    extra: { last_run_id: run_id },
  });
  return await takeUp(turn, draft, run, await frameAndPlan(turn, draft, run, context));
}

async function frameAndPlan(turn: Turn, draft: RunDraft, run: RunFacts, context: JsonMap): Promise<Plan> {
  const { planner } = turn.ports;
  const { goal, max_steps, max_reframes } = run;
  const contextText = renderContext(goal, context);
  const budget = { steps_taken: 0, max_steps, reframes: 0, max_reframes };
  const brief = { run_id: draft.run_id, goal, context: contextText, ...budget };
  const options = plannerOptions(turn);
  const frame = demand("frame", readFrame(await planner.frame({ ...brief, memory: "", why: null }, options)));
  const memory = renderMemory(framedMemory(emptyMemory, frame));
  const catalogue = { tools: catalogueOf(turn.rules), default_tool: turn.config.default_tool };
  const plan = await planner.plan({ ...brief, memory, ...catalogue, next_focus: null }, options);
  draft.write("context.md", contextText);
  draft.write("memory.md", memory);
  draft.note("frame", "framed", frame.todo.join("; ") || frame.notes);
  return demand("plan", readPlan(plan));
}

async function takeUp(turn: Turn, draft: RunDraft, run: RunFacts, plan: Plan): Promise<PluginResponse> {
  const { run_id, workspace } = draft;
  switch (plan.decision) {
    case "none":
      return refuse({ run_id }, "the planner has no first action; no run was created");
    case "done":
      draft.note("plan", "done", plan.rationale || plan.outcome);
      return await draft.complete(run, plan);
    case "act": {
      const { action, steps, rationale } = plan;
      const { tool } = action;
      const requested = await requestTool(turn, workspace, { run_id, run }, { ...action, step: 1, attempt: 1 });
      if ("refused" in requested) return refuse({ run_id, step: 1, tool }, refusal(requested.refused, tool));
      draft.write("plan.md", renderPlan(1, steps, action));
      draft.note("plan", "action", rationale || tool);
      draft.note("act", "request", requested.change.result);
      return await draft.end(requested.change);
    }
  }
}

function goalProblem(goal: string | undefined): string | undefined {
  if (goal === undefined) return "the goal must be text that is not blank";
  if (goal.length <= LONGEST_GOAL) return undefined;
  return `the goal has ${goal.length} characters; ${LONGEST_GOAL} are the most`;
}

/** Anything but text that is not blank counts as absent. */
function namedRunId(value: unknown): string | undefined {
  return typeof value === "string" && nonBlank(value) !== undefined ? value : undefined;
}

function runIdProblem(runId: string): string | undefined {
  if (runId === "__proto__" || runId.length > LONGEST_RUN_ID || /[\p{Cc}\p{Cs}]/u.test(runId)) {
    return `run_id must have at most ${LONGEST_RUN_ID} characters, none of them a control character`;
  }
  return undefined;
}

function refusal({ reason }: Escalation, tool: string): string {
  const name = JSON.stringify(tool);
  switch (reason) {
    case "followup_tool_not_allowed":
      return `the tool ${name} is not allowed; no run was created`;
    case "tool_unroutable":
      return `no pipeline listens to requests for the tool ${name}; no run was created`;
    default:
      return `the tool ${name} cannot be requested (${reason}); no run was created`;
  }
}
