// The ids of a pipeline's steps, those included that their author left out.
import { eachStep, type PipelineDraft, type StepDraft } from "../read/draft.ts";

/** By step; one without an id is called `step_<n>`, by its place among all steps of the pipeline. */
export function nameSteps({ steps }: Pick<PipelineDraft, "steps">): ReadonlyMap<StepDraft, string> {
  const all = [...eachStep(steps)];
  const taken = new Set(all.flatMap(({ id }) => id ?? []));
  const ids = new Map<StepDraft, string>();
  for (const [index, step] of all.entries()) {
    const id = step.id ?? firstFree(taken, index + 1);
    taken.add(id);
    ids.set(step, id);
  }
  return ids;
}

/** Steps whose id an earlier one has, with that id. */
export function repeatedIds({ steps }: Pick<PipelineDraft, "steps">): readonly { step: StepDraft; id: string }[] {
  const seen = new Set<string>();
  return [...eachStep(steps)].flatMap((step) => {
    const { id } = step;
    if (id === undefined) return [];
    if (seen.has(id)) return [{ step, id }];
    seen.add(id);
    return [];
  });
}

function firstFree(taken: ReadonlySet<string>, from: number): string {
  let number = from;
  while (taken.has(`step_${number}`)) number++;
  return `step_${number}`;
}
