// From drafts to the graph that the router reads: names are looked up, calls inlined, conditions become switches.
import type { Pipeline, PipelineGraph } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { LocatedProblem, Place } from "../../../yaml/place.ts";
import { MOST_PROBLEMS } from "../../../yaml/report.ts";
import { eachStep, type PipelineDraft } from "../read/draft.ts";
import { requestedTool } from "../requested-tool.ts";
import { firstUses, longestChain } from "../walk-graph.ts";
import { type CallOrder, orderByCalls } from "./call-order.ts";
import { checkDraft, type KnownPlugin } from "./check-draft.ts";
import { compileSteps } from "./compile-steps.ts";
import { warnAbout } from "./warnings.ts";

export type CompileContext = {
  /** By name or alias. */
  readonly plugins: ReadonlyMap<string, KnownPlugin>;
};

export type CompiledPipelines =
  | { readonly graph: PipelineGraph; readonly warnings: readonly LocatedProblem[] }
  | { readonly problems: readonly LocatedProblem[] };

/** Steps of one pipeline, those of the pipelines it calls included. */
const MOST_STEPS = 1000;
/** Pipelines that call each other in a row. */
const MOST_CALLS_DEEP = 32;

/** Either all pipelines compile, or their problems are listed with their places. */
export function compilePipelines(drafts: readonly PipelineDraft[], { plugins }: CompileContext): CompiledPipelines {
  const byName = new Map<string, PipelineDraft>();
  for (const draft of drafts) if (!byName.has(draft.name)) byName.set(draft.name, draft);
  const calls = orderByCalls(byName);
  const problems = [
    ...repeatedNames(drafts, byName),
    ...drafts
      .values()
      .flatMap((draft) => checkDraft(draft, { plugins, drafts: byName }))
      .take(MOST_PROBLEMS),
    ...cycleProblems(calls),
    ...sizeProblems(calls),
  ];
  if (problems.length > 0) return { problems };
  const compiled = drafts.map((draft) => compilePipeline(draft, byName, plugins));
  const deeperProblems = compiled.flatMap((each) => ("problems" in each ? each.problems : []));
  if (deeperProblems.length > 0) return { problems: deeperProblems };
  const pipelines = compiled.flatMap((each) => ("pipeline" in each ? [each.pipeline] : []));
  const graph = { pipelines: new Map(pipelines.map((pipeline) => [pipeline.name, pipeline])) };
  return { graph, warnings: warnAbout(drafts, graph, plugins) };
}

function repeatedNames(drafts: readonly PipelineDraft[], byName: ReadonlyMap<string, PipelineDraft>): LocatedProblem[] {
  return drafts.flatMap((draft) => {
    const first = byName.get(draft.name);
    if (!first || first === draft) return [];
    const { file, line } = first.place;
    const where = line === 0 ? file : `${file}, line ${line}`;
    return [at(draft.places.name, `pipeline "${draft.name}": the name is used twice, first in ${where}.`)];
  });
}

function cycleProblems({ cycles }: CallOrder): LocatedProblem[] {
  return cycles.map(({ names, step }) =>
    at(step.places.action, `${step.label}: the calls form a cycle: ${names.join(" -> ")}.`),
  );
}

/** Calls are inlined, so a few pipelines that call each other several times could come to any number of steps. */
function sizeProblems({ order }: CallOrder): LocatedProblem[] {
  const sizes = new Map<string, { readonly steps: number; readonly depth: number }>();
  return order.flatMap((draft) => {
    let steps = 0;
    let depth = 0;
    for (const { action, predicate } of eachStep(draft.steps)) {
      const callee = action.kind === "call" ? sizes.get(action.pipeline) : undefined;
      steps += (predicate ? 1 : 0) + (action.kind === "uses" ? 1 : 0) + (callee?.steps ?? 0);
      depth = Math.max(depth, callee ? callee.depth + 1 : 0);
    }
    sizes.set(draft.name, { steps, depth });
    const label = `pipeline "${draft.name}"`;
    if (depth > MOST_CALLS_DEEP) return [at(draft.place, `${label}: calls are nested deeper than ${MOST_CALLS_DEEP}.`)];
    if (steps <= MOST_STEPS) return [];
    return [at(draft.place, `${label}: with the pipelines it calls it has more than ${MOST_STEPS} steps.`)];
  });
}

type Compiled = { readonly pipeline: Pipeline } | { readonly problems: readonly LocatedProblem[] };

function compilePipeline(
  draft: PipelineDraft,
  drafts: ReadonlyMap<string, PipelineDraft>,
  plugins: CompileContext["plugins"],
): Compiled {
  const { name, trigger, predicate, execution_mode, timeout_ms, place } = draft;
  const isAgentic = requestedTool(trigger) !== undefined;
  const { entries, steps, misnamed } = compileSteps(draft, {
    drafts,
    isAgent: (plugin) => plugins.get(plugin)?.isAgent === true,
    onError: isAgentic ? "bridge" : "none",
  });
  if (misnamed.length > 0) {
    return { problems: misnamed.map(({ step, sentence }) => at(step.places.id, `${step.label}: ${sentence}`)) };
  }
  const pipeline: Pipeline = {
    name,
    trigger,
    ...(predicate && { predicate }),
    execution_mode,
    timeout_ms,
    max_depth: draft.max_depth === 0 ? null : (draft.max_depth ?? longestChain({ entries, steps })),
    entries,
    steps,
    place,
  };
  const problems = isAgentic ? enteredAgents(pipeline) : [];
  return problems.length > 0 ? { problems } : { pipeline };
}

/** An agent cannot be a tool: its own run, or another agent's, would start a run inside itself. */
function enteredAgents(pipeline: Pipeline): LocatedProblem[] {
  const { name, place, trigger } = pipeline;
  const type = "on" in trigger ? trigger.on : trigger.on_hook;
  const agents = firstUses(pipeline, pipeline.entries).filter((step) => step.is_agent);
  return agents.map(({ id, plugin }) => {
    const why = `an agent is never a tool, and step "${id}" can be the first to run (${plugin})`;
    return at(place, `pipeline "${name}": it listens to "${type}" and enters an agent: ${why}.`);
  });
}

function at({ file, line, column }: Place, message: string): LocatedProblem {
  return { file, line, column, message };
}
