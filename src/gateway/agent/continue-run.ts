// Reflect on a result, then frame again if that is asked for, plan, and request the next tool; or the run ends.
import type { ToolResult } from "../../contracts/gateway/agent/agentic-result.ts";
import { type RunFacts, type RunningRun, withCompletedStep } from "../../contracts/gateway/agent/agentic-run.ts";
import type { OkResponse } from "../../contracts/gateway/protocol/response.ts";
import { isMap, type Json } from "../../contracts/json.ts";
import {
  demand,
  type Plan,
  type Reflection,
  type RunBrief,
  readFrame,
  readPlan,
  readReflection,
} from "./planner/planner.ts";
import { requestTool } from "./request-tool.ts";
import type { RunDraft } from "./run-draft.ts";
import { catalogueOf } from "./tools.ts";
import { plannerOptions, type Turn } from "./turn-ports.ts";
import { keepResult, keptPayload } from "./workspace/keep-result.ts";
import {
  framedMemory,
  learnedBefore,
  learnedMemory,
  type Memory,
  parseMemory,
  planOfStep,
  renderMemory,
  renderPlan,
} from "./workspace/notes.ts";

/** What the phases of one turn hand on to each other. */
type Judged = {
  readonly run: RunFacts;
  readonly memory: Memory;
  /** What the planner is shown of the run. */
  readonly brief: RunBrief;
  readonly result: Json;
  readonly reflection: Reflection;
  /** The action again that the result belongs to; undefined when its payload is gone. */
  readonly again: Plan | undefined;
};

/** Goes on with a run whose pending step has succeeded. */
export async function continueRun(
  turn: Turn,
  draft: RunDraft,
  toolResult: ToolResult,
  pending: RunningRun,
): Promise<OkResponse> {
  const { step } = toolResult;
  const judged = await reflect(turn, draft, toolResult, pending);
  const { run, reflection, result } = judged;
  const decision = gated(reflection);
  draft.note("reflect", decision, reflection.summary || reflection.outcome || reflection.detail);
  draft.write("memory.md", renderMemory(judged.memory));
  if (decision === "done") {
    const artifacts = reflection.artifacts.length > 0 ? reflection.artifacts : artifactPaths(result);
    return await draft.complete(run, { outcome: outcomeOf(reflection, result), artifacts });
  }
  if (decision === "escalate") {
    const detail = reflection.detail || reflection.summary;
    return await draft.escalate("reflect", run, { reason: "planner_escalated", step, detail });
  }
  const { max_steps, reframes, max_reframes } = run;
  if (step >= max_steps) return await draft.escalate("reflect", run, { reason: "max_steps_exceeded", step, max_steps });
  if (decision === "reframe" && reframes >= max_reframes) {
    return await draft.escalate("reflect", run, { reason: "max_reframes_exceeded", reframes, max_reframes });
  }
  const framed = decision === "reframe" ? await reframe(turn, draft, judged) : judged;
  const plan = decision === "retry" ? judged.again : undefined;
  return await act(turn, draft, framed, step, plan ?? (await planNext(turn, framed)));
}

async function reflect(turn: Turn, draft: RunDraft, toolResult: ToolResult, pending: RunningRun): Promise<Judged> {
  const { workspace, run_id } = draft;
  const { step, tool } = toolResult;
  const run = withCompletedStep(pending, step);
  const { goal, max_steps, reframes, max_reframes } = run;
  const result = await keepResult(workspace, toolResult);
  const tool_payload = await keptPayload(workspace, pending.pending_payload);
  const action = { tool, tool_command: pending.last_tool_command, tool_payload: tool_payload ?? {} };
  const known = learnedBefore(parseMemory(await workspace.read("memory.md")), step);
  const context = await workspace.read("context.md");
  const about = { run_id, goal, context, steps_taken: step, max_steps, reframes, max_reframes };
  const brief = { ...about, memory: renderMemory(known) };
  const plan = planOfStep(await workspace.read("plan.md"), step);
  const answer = await turn.ports.planner.reflect({ ...brief, plan, action, result }, plannerOptions(turn));
  const reflection = demand("reflect", readReflection(answer));
  const memory = learnedMemory(known, step, reflection.memory_update, reflection.updated_state || known.status);
  const rationale = "the same action again";
  const again: Plan = { decision: "act", action: { ...action, rationale }, steps: [], rationale };
  return { run, memory, brief, result, reflection, again: tool_payload && again };
}

async function reframe(turn: Turn, draft: RunDraft, judged: Judged): Promise<Judged> {
  const { brief, memory, reflection } = judged;
  const run = { ...judged.run, reframes: judged.run.reframes + 1 };
  const why = reflection.detail || reflection.summary || "The last result does not lead to the goal.";
  const input = { ...brief, memory: renderMemory(memory), reframes: run.reframes, why };
  const frame = demand("frame", readFrame(await turn.ports.planner.frame(input, plannerOptions(turn))));
  draft.note("frame", "reframed", frame.todo.join("; ") || frame.notes);
  const framed = framedMemory(memory, frame);
  draft.write("memory.md", renderMemory(framed));
  return { ...judged, run, memory: framed };
}

async function planNext(turn: Turn, { run, memory, brief, result, reflection }: Judged): Promise<Plan> {
  const input = {
    ...brief,
    memory: renderMemory(memory),
    reframes: run.reframes,
    tools: catalogueOf(turn.rules),
    next_focus: reflection.next_focus || null,
    last_result: result,
    default_tool: turn.config.default_tool,
  };
  return demand("plan", readPlan(await turn.ports.planner.plan(input, plannerOptions(turn))));
}

async function act(
  turn: Turn,
  draft: RunDraft,
  { run, result }: Judged,
  step: number,
  plan: Plan,
): Promise<OkResponse> {
  if (plan.decision === "none") return await draft.escalate("plan", run, { reason: "no_next_action", step });
  if (plan.decision === "done") {
    draft.note("plan", "done", plan.rationale || plan.outcome);
    const artifacts = plan.artifacts.length > 0 ? plan.artifacts : artifactPaths(result);
    return await draft.complete(run, { outcome: plan.outcome, artifacts });
  }
  const { run_id, workspace } = draft;
  const { action, steps, rationale } = plan;
  const at = { step: step + 1, attempt: 1 };
  draft.note("plan", "action", rationale || action.tool, at);
  const requested = await requestTool(turn, workspace, { run_id, run }, { ...action, ...at });
  if ("refused" in requested) return await draft.escalate("act", run, requested.refused);
  draft.write("plan.md", renderPlan(at.step, steps, action));
  draft.note("act", "request", requested.change.result, at);
  return await draft.end(requested.change);
}

/** A run is only done with something to say for it. */
function gated({ decision, outcome, summary }: Reflection): Reflection["decision"] {
  return decision === "done" && outcome === "" && summary === "" ? "continue" : decision;
}

function outcomeOf({ outcome, summary }: Reflection, result: Json): string {
  return outcome || firstText(result) || summary;
}

function firstText(result: Json): string {
  if (typeof result === "string") return result.trim();
  if (!isMap(result)) return "";
  const texts = ["result", "summary", "content", "text"].map((key) => result[key]);
  return texts.find((text): text is string => typeof text === "string" && text.trim() !== "") ?? "";
}

function artifactPaths(result: Json): readonly string[] {
  if (!isMap(result)) return [];
  return [result.artifact_path, result.output_path].filter((path) => typeof path === "string");
}
