// What is allowed in a pipeline and probably not meant.
import { TOOL_RESULT } from "../../../contracts/gateway/agent/correlation.ts";
import { STEP_SUCCEEDED, SWITCH_FALSE, SWITCH_TRUE } from "../../../contracts/gateway/job.ts";
import type { Pipeline, PipelineGraph } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { templateProblem } from "../../../contracts/gateway/pipelines/template.ts";
import type { Json } from "../../../contracts/json.ts";
import type { Predicate } from "../../../contracts/predicates/predicate.ts";
import type { LocatedProblem } from "../../../yaml/place.ts";
import { eachStep, type PipelineDraft, type StepDraft } from "../read/draft.ts";
import { requestedTool } from "../requested-tool.ts";
import type { KnownPlugin } from "./check-draft.ts";

type Plugins = ReadonlyMap<string, KnownPlugin>;

export function warnAbout(drafts: readonly PipelineDraft[], graph: PipelineGraph, plugins: Plugins): LocatedProblem[] {
  const pipelines = [...graph.pipelines.values()];
  const hasResultPipeline = pipelines.some(({ trigger }) => "on" in trigger && trigger.on === TOOL_RESULT);
  return [
    ...pipelines.flatMap(neverStarted),
    ...(hasResultPipeline ? [] : pipelines.flatMap(neverResumed)),
    ...drafts.flatMap((draft) => [...eachStep(draft.steps)].flatMap((step) => warnAboutStep(step, draft, plugins))),
  ];
}

/** What steps hand on inside their pipeline starts no other one. */
function neverStarted({ name, trigger, place }: Pipeline): LocatedProblem[] {
  if (!("on" in trigger) || ![STEP_SUCCEEDED, SWITCH_TRUE, SWITCH_FALSE].includes(trigger.on)) return [];
  return [{ ...place, message: `pipeline "${name}": events of the type "${trigger.on}" start no pipeline.` }];
}

function neverResumed({ name, trigger, steps, place }: Pipeline): LocatedProblem[] {
  const tool = requestedTool(trigger);
  if (tool === undefined || [...steps.values()].some((step) => step.is_agent)) return [];
  const message = `pipeline "${name}": no step of it is an agent, so a run that requests ${tool} hears of no result.`;
  return [{ ...place, message }];
}

function warnAboutStep(step: StepDraft, { trigger }: PipelineDraft, plugins: Plugins): LocatedProblem[] {
  const { action, label, place, places } = step;
  const warnings: LocatedProblem[] = [];
  if (action.kind !== "uses") {
    if (step.predicate && readsConfig(step.predicate)) {
      warnings.push({
        ...places.predicate,
        message: `${label}: config is empty in the "if" of a step without "uses".`,
      });
    }
    return warnings;
  }
  const plugin = plugins.get(action.plugin);
  const isAgentic = requestedTool(trigger) !== undefined;
  if (plugin && action.command === undefined && !isAgentic && !plugin.commands.includes("handle")) {
    const message = `${label}: ${action.plugin} declares no command "handle", and the step names no other one.`;
    warnings.push({ ...places.action, message });
  }
  if (plugin?.isAgent && action.on_error === "bridge") {
    warnings.push({ ...place, message: `${label}: "on_error: bridge" has no effect on a step that is an agent.` });
  }
  for (const [key, template] of Object.entries(action.with ?? {})) {
    // The text itself may come from the environment and is not shown.
    if (!textsIn(template).some((text) => templateProblem(text) !== undefined)) continue;
    const message = `${label}: no job of it can run: the template of "${key}" has a brace without its partner, or refers to neither payload.<path> nor context.<path>.`;
    warnings.push({ ...place, message });
  }
  return warnings;
}

function readsConfig(predicate: Predicate): boolean {
  if ("all" in predicate) return predicate.all.some(readsConfig);
  if ("any" in predicate) return predicate.any.some(readsConfig);
  if ("not" in predicate) return readsConfig(predicate.not);
  return predicate.path.trim().startsWith("config.");
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
