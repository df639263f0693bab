// Whether everything that a pipeline names is there.
import type { LocatedProblem, Place } from "../../../yaml/place.ts";
import { eachStep, type PipelineDraft, type StepDraft } from "../read/draft.ts";
import { suggestion } from "../read/suggestion.ts";
import { repeatedIds } from "./step-ids.ts";

/** What pipelines have to know of a plugin. */
export type KnownPlugin = {
  /** The commands that its manifest declares. */
  readonly commands: readonly string[];
  readonly isAgent: boolean;
  /** The name in its manifest. */
  readonly base: string;
};

export type KnownNames = {
  readonly plugins: ReadonlyMap<string, KnownPlugin>;
  readonly drafts: ReadonlyMap<string, PipelineDraft>;
};

/** One after another, because a caller that shows the first few need not have the others looked up. */
export function* checkDraft(draft: PipelineDraft, names: KnownNames): Generator<LocatedProblem> {
  yield* checkSource(draft, names);
  for (const { step, id } of repeatedIds(draft)) {
    yield problem(step.places.id, `${step.label}: the id "${id}" is used twice in its pipeline.`);
  }
  for (const step of eachStep(draft.steps)) yield* checkStep(step, names);
}

function checkSource({ name, trigger, places }: PipelineDraft, { plugins }: KnownNames): LocatedProblem[] {
  const source = trigger.from_plugin;
  if (source === undefined || plugins.has(source)) return [];
  const hint = suggestion(source, plugins.keys());
  return [problem(places.from_plugin, `pipeline "${name}": "from_plugin" names no plugin: "${source}".${hint}`)];
}

function checkStep(step: StepDraft, { plugins, drafts }: KnownNames): LocatedProblem[] {
  const { action, label, places } = step;
  if (action.kind === "call" && !drafts.has(action.pipeline)) {
    const hint = suggestion(action.pipeline, drafts.keys());
    return [problem(places.action, `${label}: "call" names no pipeline: "${action.pipeline}".${hint}`)];
  }
  if (action.kind !== "uses") return [];
  const plugin = plugins.get(action.plugin);
  if (!plugin) {
    const hint = suggestion(action.plugin, plugins.keys());
    return [problem(places.action, `${label}: "uses" names no plugin: "${action.plugin}".${hint}`)];
  }
  if (action.command === undefined || plugin.commands.includes(action.command)) return [];
  const hint = suggestion(action.command, plugin.commands);
  return [problem(places.command, `${label}: ${action.plugin} declares no command "${action.command}".${hint}`)];
}

function problem({ file, line, column }: Place, message: string): LocatedProblem {
  return { file, line, column, message };
}
