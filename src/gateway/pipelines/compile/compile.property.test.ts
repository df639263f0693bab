import fc from "fast-check";
import { expect, it } from "vitest";
import { SWITCH_FALSE, SWITCH_TRUE } from "../../../contracts/gateway/job.ts";
import type { Pipeline, PipelineGraph } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { locatedObject } from "../../config/located-object.ts";
import { loadPipelines } from "../load-pipelines.ts";
import { event, jobOf, plugins, routesOf } from "../pipelines-in-test.ts";
import { type Emitter, enterPipeline, type Resolution, resolveEvent } from "../resolve.ts";
import { longestChain, mostJobs } from "../walk-graph.ts";

// Pipelines call later ones only, so calls are free of cycles.
const lists = fc.integer({ min: 1, max: 4 }).chain((count) =>
  fc.tuple(
    ...Array.from({ length: count }, (_, at) => {
      const callees = Array.from({ length: count - at - 1 }, (_, below) => `p${at + below + 1}`);
      const { steps } = fc.letrec<{ steps: unknown[]; step: object }>((tie) => ({
        steps: fc.array(tie("step"), { minLength: 1, maxLength: 3 }),
        step: fc
          .tuple(
            fc.oneof(
              { maxDepth: 3, withCrossShrink: true },
              fc.constantFrom("a", "b", "c").map((uses) => ({ uses })),
              ...(callees.length > 0 ? [fc.constantFrom(...callees).map((call) => ({ call }))] : []),
              tie("steps").map((nested) => ({ steps: nested })),
              tie("steps").map((branches) => ({ split: branches })),
            ),
            fc.option(fc.constant({ path: "payload.n", op: "exists" }), { nil: undefined, freq: 2 }),
          )
          .map(([action, predicate]) => (predicate ? { ...action, if: predicate } : action)),
      }));
      return steps.map((list) => ({ name: `p${at}`, on: "t", steps: list }));
    }),
  ),
);

it("every compiled pipeline is free of cycles, reaches each of its steps, and has switches with both exits told apart", () => {
  fc.assert(
    fc.property(lists, (pipelines) => {
      const sources = { pipelineSources: [locatedObject(pipelines, "object")], routeSources: [] };
      const loaded = loadPipelines({ ...sources, plugins });
      if ("problems" in loaded) {
        expect(loaded.problems.map(({ message }) => message)).toEqual(
          loaded.problems.map(() => expect.stringContaining("more than 1000 steps")),
        );
        return;
      }
      for (const pipeline of loaded.graph.pipelines.values()) {
        const { reached, isAcyclic } = walk(pipeline);
        expect(isAcyclic).toBe(true);
        expect([...reached].toSorted()).toEqual([...pipeline.steps.keys()].toSorted());
        expect(pipeline.max_depth).toBe(longestChain(pipeline));
        for (const { kind, next } of pipeline.steps.values()) {
          expect(next.every(({ when }) => (when !== undefined) === (kind === "switch"))).toBe(true);
          expect(new Set(next.map(({ to, when }) => `${to} ${when}`)).size).toBe(next.length);
        }
      }
    }),
    { numRuns: 300 },
  );
});

function walk({ entries, steps }: Pipeline): { reached: ReadonlySet<string>; isAcyclic: boolean } {
  const reached = new Set<string>();
  const onPath = new Set<string>();
  let isAcyclic = true;
  function visit(id: string): void {
    if (onPath.has(id)) isAcyclic = false;
    if (reached.has(id)) return;
    reached.add(id);
    onPath.add(id);
    for (const { to } of steps.get(id)?.next ?? []) visit(to);
    onPath.delete(id);
  }
  for (const entry of entries) visit(entry);
  return { reached, isAcyclic };
}

it("every instance ends, within the depth and the number of jobs that its pipeline is said to have", () => {
  fc.assert(
    fc.property(lists, fc.array(fc.boolean(), { minLength: 1, maxLength: 50 }), (pipelines, outcomes) => {
      const sources = { pipelineSources: [locatedObject(pipelines, "object")], routeSources: [] };
      const loaded = loadPipelines({ ...sources, plugins });
      if ("problems" in loaded) return;
      for (const pipeline of loaded.graph.pipelines.values()) {
        if (mostJobs(pipeline) > 500) continue;
        expect(runInstance(loaded.graph, pipeline, outcomes)).toBeLessThanOrEqual(mostJobs(pipeline));
      }
    }),
    { numRuns: 200 },
  );
});

/** How many jobs an instance comes to when each emits one event and switches come out as listed. */
function runInstance(graph: PipelineGraph, pipeline: Pipeline, outcomes: readonly boolean[]): number {
  const jobs: Emitter[] = [];
  const queue = (resolution: Resolution) => jobs.push(...routesOf(resolution).map((route) => jobOf(route)));
  queue(enterPipeline({ pipeline, event: event("t", {}, { event_id: "trigger" }) }));
  for (const [at, emitter] of jobs.entries()) {
    const isSwitch = emitter.plugin === "core.switch";
    const type = isSwitch ? (outcomes[at % outcomes.length] ? SWITCH_TRUE : SWITCH_FALSE) : "done";
    queue(resolveEvent({ graph, event: event(type, {}, { event_id: `event-${at}` }), emitter }));
  }
  return jobs.length;
}
