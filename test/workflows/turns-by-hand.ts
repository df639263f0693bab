// Durable runs carried on turn by turn, each as after a crash: the run is loaded anew, and what its steps come to is up to the test.
import type { WorkflowStore } from "../../src/backend/workflow-store.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { WorkflowRun } from "../../src/contracts/workflows/run-record.ts";
import { typedSpec } from "../../src/contracts/workflows/spec.ts";
import { momentNow } from "../../src/engine/moment.ts";
import { createKnownWorkflows } from "../../src/workflows/durable/known-workflows.ts";
import { LeasedRun } from "../../src/workflows/durable/leased-run.ts";
import { begin, newRun } from "../../src/workflows/durable/new-run.ts";
import { createRunHandle } from "../../src/workflows/durable/run-handle.ts";
import type { RunHost } from "../../src/workflows/durable/run-host.ts";
import { RUN_STATE_VERSION } from "../../src/workflows/durable/run-state.ts";
import { readRun } from "../../src/workflows/durable/run-view.ts";
import { takeTurn } from "../../src/workflows/durable/turn.ts";
import type { Arrived, Order } from "../../src/workflows/machine/next.ts";
import { hostInTest } from "../thread-states.ts";
import type { Answer } from "../workflow-machine.ts";

export type ByHand = {
  readonly host: RunHost;
  /** How many rows of steps were read in each turn so far. */
  readonly read: number[];
  /** Carries the run on until it has ended. A run that parks goes on as soon as it is due. */
  carryOn(id: string, answer: Answer): Promise<WorkflowRun>;
  start(
    steps: readonly JsonMap[],
    more?: { readonly continueOnError?: boolean; readonly inputs?: JsonMap },
  ): Promise<string>;
  /** Wants a run that has failed carried on. */
  retry(id: string): Promise<void>;
};

const WORKER = "by hand";
const MINUTE = 60_000_000;

export async function byHand(rowsAtOnce?: number): Promise<ByHand> {
  const threads = await hostInTest();
  const read: number[] = [];
  const { workflows } = threads.stores;
  const counted = <Rows extends readonly unknown[]>(rows: Rows): Rows => {
    if (read.length > 0) read[read.length - 1] = (read.at(-1) ?? 0) + rows.length;
    return rows;
  };
  const counting: WorkflowStore = {
    ...workflows,
    steps: async (...about) => counted(await workflows.steps(...about)),
    stepsAt: async (...about) => counted(await workflows.stepsAt(...about)),
    undoable: async (...about) => counted(await workflows.undoable(...about)),
  };
  const host: RunHost = {
    threads: { ...threads, stores: { ...threads.stores, workflows: counting } },
    ...{
      workflows: createKnownWorkflows([]),
      tools: new Map(),
      stepTypes: [],
      functions: {},
      rowsAtOnce,
      keepAnswersMs: 60_000,
    },
    operations: () => ({
      has: () => true,
      isRepeatable: () => true,
      call: () => null,
      firstAnswer: async () => "never_begun",
    }),
    mayUseAgent: async () => false,
  };

  async function claimed(id: string) {
    for (;;) {
      const about = { worker: WORKER, limit: 1, lease_us: MINUTE, except: [] };
      const [found] = await threads.stores.engine.claim({
        ...about,
        kind: "workflow",
        state_version: RUN_STATE_VERSION,
      });
      if (found?.id === id) return found;
    }
  }

  return {
    ...{ host, read },
    async start(steps, { continueOnError = false, inputs = {} } = {}) {
      const workflow = typedSpec({ id: "by-hand", steps });
      const made = newRun(host, { ...{ workflow, inputs, notes: {}, continueOnError, tags: [], key: null } });
      await threads.stores.threads.open(made.thread, [...made.own, begin(made.id)]);
      return made.id;
    },
    async carryOn(id, answer) {
      let held = await claimed(id);
      const waiting: Order[] = [];
      let arrived: readonly Arrived[] = [];
      for (;;) {
        read.push(0);
        const run = await LeasedRun.load(host, WORKER, held, momentNow());
        const { batch, standing, settling, ordered } = await takeTurn(host, run, {
          ...{ arrived, atWork: waiting.length, isSliceOver: false },
        });
        await run.commit(batch, standing, settling);
        waiting.push(...ordered.map(({ order }) => order));
        const next = waiting.shift();
        arrived = next ? [{ path: next.path, attempt: next.attempt, outcome: answer(next) }] : [];
        if (!settling) continue;
        if (run.state.machine.status !== "running") {
          read.push(0);
          const record = await readRun(host, id);
          read.pop();
          if (record) return record;
        }
        held = await claimed(id);
      }
    },
    retry: (id) => createRunHandle(host, id).retry({ repeatUnknown: true }),
  };
}
