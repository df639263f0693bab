// The driver of durable runs alone, on a real database: operations are functions of the test, and it dies where the test says so.
import type { Backend } from "../../src/backend/sql-driver.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { WorkflowRun } from "../../src/contracts/workflows/run-record.ts";
import type { WorkflowSpec } from "../../src/contracts/workflows/spec.ts";
import { createMembership } from "../../src/engine/membership.ts";
import { createKnownWorkflows } from "../../src/workflows/durable/known-workflows.ts";
import { begin, newRun, type RunOrder } from "../../src/workflows/durable/new-run.ts";
import { createRunHandle, type RunHandle } from "../../src/workflows/durable/run-handle.ts";
import type { RunHost } from "../../src/workflows/durable/run-host.ts";
import { createRunWorker } from "../../src/workflows/durable/worker.ts";
import { mortalBackend } from "../mortal-runtime.ts";
import { hostOn } from "../thread-states.ts";

export type DriverParts = Pick<RunHost, "operations"> & Partial<Pick<RunHost, "stepHandlers" | "hooks" | "functions">>;

export type DriverInTest = {
  /** Writes the run, whatever a start would say against it. */
  begin(workflow: WorkflowSpec, inputs: JsonMap, order?: Partial<RunOrder>): Promise<void>;
  run(id: string): RunHandle;
  /** The record of a run once it has ended; undefined if the driver died before. */
  ended(id: string): Promise<WorkflowRun | undefined>;
  readonly errors: readonly unknown[];
  close(): Promise<void>;
};

/** Every process of the test knows the workflows that were begun. */
const known = createKnownWorkflows();

export async function openDriver(
  chosen: Backend,
  parts: DriverParts,
  fate: (point: string) => boolean = () => false,
  places: { readonly concurrency?: number; readonly slice?: number } = {},
): Promise<DriverInTest> {
  const mortal = mortalBackend(chosen, fate);
  const driver = await mortal.backend.open();
  const errors: unknown[] = [];
  const report = (error: unknown) => void (mortal.isDead || errors.push(error));
  const threads = { ...(await hostOn(driver)), verifies: true, onCrashPoint: mortal.onPoint, report };
  const { stores, leaseMs } = threads;
  const host: RunHost = {
    ...{ threads, workflows: known, tools: new Map(), stepTypes: [], functions: {} },
    mayUseAgent: async () => false,
    keepAnswersMs: 86_400_000,
    ...parts,
  };
  const membership = createMembership({ store: stores.membership, driver, leaseMs, report });
  const worker = createRunWorker(host, driver, membership, {
    ...{ concurrency: 8, pollMs: 60_000, slice: 500, drainMs: 500, ...places },
  });
  await membership.join();
  worker.start();
  const died = mortal.died.then(() => undefined);
  return {
    errors,
    async begin(workflow, inputs, order = {}) {
      known.add({ spec: workflow, source: "spec", functions: {} });
      const made = newRun(host, {
        ...{ workflow, inputs, notes: {}, continueOnError: false, tags: [], key: null },
        ...order,
      });
      await Promise.race([died, stores.threads.open(made.thread, [...made.own, begin(made.id)])]);
    },
    run: (id) => createRunHandle(host, id),
    ended: (id) => Promise.race([died, createRunHandle(host, id).result()]),
    async close() {
      if (mortal.isDead) return;
      await worker.stop();
      await membership.leave();
      await driver.close();
      threads.progress.close();
    },
  };
}
