// The steps of one pipeline as a graph. Called pipelines are inlined: their steps inherit the context, and what follows
// their exits is what follows the call.
import { SWITCH_PLUGIN } from "../../../contracts/gateway/job.ts";
import type { Edge, Step } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { isIndexable } from "../../../contracts/storable-name.ts";
import type { PipelineDraft, StepDraft, UsesAction } from "../read/draft.ts";
import { digestSteps, digestWithin } from "./step-digests.ts";
import { nameSteps } from "./step-ids.ts";

export type CompiledSteps = {
  readonly entries: readonly string[];
  readonly steps: ReadonlyMap<string, Step>;
  /** Steps whose id in the graph another one has, or cannot be stored. */
  readonly misnamed: readonly { readonly step: StepDraft; readonly sentence: string }[];
};

export type CompileOptions = {
  readonly drafts: ReadonlyMap<string, PipelineDraft>;
  readonly isAgent: (plugin: string) => boolean;
  /** What a failure does where the author has not said it. */
  readonly onError: "bridge" | "none";
};

/** Part of a graph: where it is entered, and the edges that leave it. */
type Fragment = { readonly entries: readonly string[]; readonly exits: readonly Exit[] };
type Exit = { readonly from: string; readonly when?: "true" | "false" };

/** Calls must be free of cycles, and every name must be known. */
export function compileSteps(draft: PipelineDraft, { drafts, isAgent, onError }: CompileOptions): CompiledSteps {
  const nodes = new Map<string, Omit<Step, "next"> & { readonly next: Edge[] }>();
  const misnamed: { step: StepDraft; sentence: string }[] = [];

  function add(node: Omit<Step, "next" | "digest">, step: StepDraft, digest: string | undefined): void {
    const { id } = node;
    if (nodes.has(id))
      misnamed.push({ step, sentence: `the id "${id}" is needed for another step; rename one of the two.` });
    else if (!isIndexable(draft.name, id))
      misnamed.push({ step, sentence: "its id and those of the calls before it are too long." });
    else nodes.set(id, { ...node, ...(digest !== undefined && { digest }), next: [] });
  }

  function connect(exits: readonly Exit[], entries: readonly string[]): void {
    for (const { from, when } of exits) {
      nodes.get(from)?.next.push(...entries.map((to) => (when ? { to, when } : { to })));
    }
  }

  function compilePipeline(pipeline: PipelineDraft, prefix: string, call?: string): Fragment {
    const ids = nameSteps(pipeline);
    const idOf = (step: StepDraft) => `${prefix}${ids.get(step) ?? ""}`;
    const digests = digestSteps(pipeline);
    const digestOf = (step: StepDraft) => digestWithin(call, digests.get(step));

    function sequence(steps: readonly StepDraft[]): Fragment {
      const [first, ...rest] = steps.map(guarded);
      if (!first) return { entries: [], exits: [] };
      return rest.reduce((before, next) => {
        connect(before.exits, next.entries);
        return { entries: before.entries, exits: next.exits };
      }, first);
    }

    function guarded(step: StepDraft): Fragment {
      if (!step.predicate) return action(step);
      const { plugin } = step.action.kind === "uses" ? step.action : {};
      const id = `${idOf(step)}.if`;
      add(
        { ...switchStep(id, onError), predicate: step.predicate, ...(plugin !== undefined && { guards: plugin }) },
        step,
        digestOf(step),
      );
      const body = action(step);
      connect([{ from: id, when: "true" }], body.entries);
      return { entries: [id], exits: [...body.exits, { from: id, when: "false" }] };
    }

    function action(step: StepDraft): Fragment {
      switch (step.action.kind) {
        case "uses": {
          const id = idOf(step);
          add(usesStep(id, step.action), step, digestOf(step));
          return { entries: [id], exits: [{ from: id }] };
        }
        case "steps":
          return sequence(step.action.steps);
        case "split": {
          const branches = step.action.branches.map(guarded);
          return { entries: branches.flatMap(({ entries }) => entries), exits: branches.flatMap(({ exits }) => exits) };
        }
        case "call": {
          const callee = drafts.get(step.action.pipeline);
          return callee ? compilePipeline(callee, `${idOf(step)}.`, digestOf(step)) : { entries: [], exits: [] };
        }
        default:
          return step.action satisfies never;
      }
    }

    return sequence(pipeline.steps);
  }

  function usesStep(id: string, { kind, on_error, ...action }: UsesAction): Omit<Step, "next"> {
    const is_agent = isAgent(action.plugin);
    // An agent that heard of its own failure would fail in the same way again.
    return { id, kind, is_agent, ...action, on_error: is_agent ? "none" : (on_error ?? onError) };
  }

  const { entries } = compilePipeline(draft, "");
  return { entries, steps: nodes, misnamed };
}

function switchStep(id: string, onError: "bridge" | "none"): Omit<Step, "next"> {
  return { id, kind: "switch", plugin: SWITCH_PLUGIN, is_agent: false, baggage: [], on_error: onError };
}
