// Questions about the shape of a compiled pipeline, which has no cycles.
import type { Pipeline, Step } from "../../contracts/gateway/pipelines/pipeline-graph.ts";

type Graph = Pick<Pipeline, "entries" | "steps">;

/** The plugin steps that are entered first from these steps on: switches run none and are looked through. */
export function firstUses({ steps }: Pick<Pipeline, "steps">, from: readonly string[]): readonly Step[] {
  const uses = new Set<Step>();
  const seen = new Set<string>();
  const open = [...from];
  for (const id of open) {
    const step = seen.has(id) ? undefined : steps.get(id);
    seen.add(id);
    if (step?.kind === "uses") uses.add(step);
    if (step?.kind === "switch") open.push(...step.next.map(({ to }) => to));
  }
  return [...uses];
}

/** How many jobs follow each other on the longest way through the pipeline. */
export function longestChain(graph: Graph): number {
  return Math.max(0, ...measure(graph, ({ next }, below) => 1 + Math.max(0, ...next.map(({ to }) => below(to)))));
}

/** How many jobs an instance comes to at most when every step emits one event. */
export function mostJobs(graph: Graph): number {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return sum(
    measure(graph, ({ kind, next }, below) => {
      const along = (when?: "true" | "false") =>
        sum(next.filter((edge) => edge.when === when).map(({ to }) => below(to)));
      return 1 + (kind === "switch" ? Math.max(along("true"), along("false")) : along());
    }),
  );
}

/** A number for each entry, from those of the steps that follow. */
function measure({ entries, steps }: Graph, count: (step: Step, below: (id: string) => number) => number): number[] {
  const measured = new Map<string, number>();
  function below(id: string): number {
    const step = steps.get(id);
    const number = measured.get(id) ?? (step ? count(step, below) : 0);
    measured.set(id, number);
    return number;
  }
  return entries.map(below);
}
