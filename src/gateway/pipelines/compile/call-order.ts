// The order in which called pipelines come before their callers, and what keeps one from being found.
import { eachStep, type PipelineDraft, type StepDraft } from "../read/draft.ts";

export type CallOrder = {
  /** Callees before their callers; without pipelines that reach a cycle. */
  readonly order: readonly PipelineDraft[];
  readonly cycles: readonly CallCycle[];
};

/** The names along the cycle, the first one again at the end, and the step that closes it. */
export type CallCycle = { readonly names: readonly string[]; readonly step: StepDraft };

type Call = { readonly target: PipelineDraft; readonly step: StepDraft };

/** Calls of pipelines that do not exist are left out. */
export function orderByCalls(drafts: ReadonlyMap<string, PipelineDraft>): CallOrder {
  const calls = new Map([...drafts.values()].map((draft) => [draft, readCalls(draft, drafts)]));
  const order = takeCalleesFirst(calls);
  const ordered = new Set(order);
  const cyclic = [...drafts.values()].filter((draft) => !ordered.has(draft));
  return { order, cycles: findCycles(cyclic, calls, ordered) };
}

function readCalls(draft: PipelineDraft, drafts: ReadonlyMap<string, PipelineDraft>): readonly Call[] {
  return [...eachStep(draft.steps)].flatMap((step) => {
    const target = step.action.kind === "call" ? drafts.get(step.action.pipeline) : undefined;
    return target ? [{ target, step }] : [];
  });
}

/** Without recursion: a chain of calls can be as long as the list of pipelines. */
function takeCalleesFirst(calls: ReadonlyMap<PipelineDraft, readonly Call[]>): PipelineDraft[] {
  const missing = new Map<PipelineDraft, number>();
  const callers = new Map([...calls.keys()].map((draft) => [draft, [] as PipelineDraft[]]));
  for (const [draft, list] of calls) {
    missing.set(draft, list.length);
    for (const { target } of list) callers.get(target)?.push(draft);
  }
  const order = [...calls.keys()].filter((draft) => missing.get(draft) === 0);
  for (const callee of order) {
    for (const caller of callers.get(callee) ?? []) {
      const left = (missing.get(caller) ?? 0) - 1;
      missing.set(caller, left);
      if (left === 0) order.push(caller);
    }
  }
  return order;
}

/** Every pipeline here calls another one of them, so following first calls ends in a cycle. */
function findCycles(
  cyclic: readonly PipelineDraft[],
  calls: ReadonlyMap<PipelineDraft, readonly Call[]>,
  ordered: ReadonlySet<PipelineDraft>,
): CallCycle[] {
  const cycles: CallCycle[] = [];
  const visited = new Set<PipelineDraft>();
  for (const start of cyclic) {
    const path: Call[] = [];
    const position = new Map<PipelineDraft, number>();
    let at: PipelineDraft | undefined = start;
    while (at && !visited.has(at)) {
      visited.add(at);
      position.set(at, path.length);
      const call: Call | undefined = calls.get(at)?.find(({ target }) => !ordered.has(target));
      if (call) path.push(call);
      at = call?.target;
    }
    const first = at && position.get(at);
    const closing = path.at(-1);
    if (at && first !== undefined && closing) {
      cycles.push({ names: [at.name, ...path.slice(first).map(({ target }) => target.name)], step: closing.step });
    }
  }
  return cycles;
}
