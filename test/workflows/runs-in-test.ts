// Runtimes for promises about runs, and what a test waits for in them.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import type { EngineView } from "../../src/backend/engine.ts";
import { openStores } from "../../src/backend/sql/open-stores.ts";
import type { Backend, SqlDriver } from "../../src/backend/sql-driver.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../../src/holdfast.ts";
import { type HeldClock, heldClock } from "../../src/testing/held-clock.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";
import { type Tool, type ToolDefinition, tool } from "../../src/threads/tool.ts";
import type { RunEvent } from "../../src/workflows/durable/run-events.ts";
import type { RunHandle } from "../../src/workflows/durable/run-handle.ts";
import { secretKey } from "../databases.ts";

export const SECOND = 1_000;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export type ClockedWorld = {
  readonly clock: HeldClock;
  readonly backend: Backend;
  /** A runtime on the database of the test; the one before has to be closed. */
  open(options?: Partial<HoldfastOptions>): Promise<Holdfast>;
  /** How the engine sees a run, with the words of the last error: through the runtime that was opened last. */
  engineView(id: string): Promise<EngineView>;
  /** What the runtimes have reported as errors. What is left at the end of a test fails it. */
  takeErrors(): readonly unknown[];
};

/** A database of its own whose time is in the hand of the test. */
export async function clockedWorld(): Promise<ClockedWorld> {
  const clock = heldClock();
  const folder = await mkdtemp(join(tmpdir(), "holdfast-test-"));
  const opened: Holdfast[] = [];
  let errors: unknown[] = [];
  const chosen = sqlite(join(folder, "runs.db"), { clock });
  const sealing = createSealing(Buffer.from(secretKey, "hex"));
  let driver: SqlDriver | undefined;
  const backend: Backend = {
    ...chosen,
    async open() {
      driver = await chosen.open();
      return driver;
    },
  };
  onTestFinished(async () => {
    await Promise.all(opened.map((each) => each.close()));
    await rm(folder, { recursive: true, force: true });
    expect(errors).toEqual([]);
  });
  return {
    ...{ clock, backend },
    async open(options = {}) {
      const holdfast = await createHoldfast({
        ...{ backend, agents: [], secretKey, verifies: true },
        ...{ drainMs: 500, drainsOnSignal: false, onError: (error) => void errors.push(error) },
        ...options,
      });
      opened.push(holdfast);
      return holdfast;
    },
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken;
    },
    async engineView(id) {
      const stores = driver && (await openStores(driver, { keyFingerprint: sealing.fingerprint }));
      const view = await stores?.engine.view(id);
      if (!view) throw new Error(`There is no run ${id}.`);
      return { ...view, last_error: view.last_error === null ? null : sealing.open(view.last_error, id) };
    },
  };
}

/** What `look` finds, once there is something. */
export async function until<Found>(look: () => Promise<Found | false | undefined>): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise(setImmediate);
  }
}

export async function suspended(run: RunHandle, reason?: string): Promise<void> {
  await until(async () => {
    const now = await run.summary();
    return now.status === "suspended" && (reason === undefined || now.reason === reason);
  });
}

/** The first event that fits, once it has happened. */
export async function happened(run: RunHandle, fits: Partial<RunEvent>): Promise<RunEvent> {
  const isFit = (event: RunEvent) =>
    Object.entries(fits).every(([name, value]) => event[name as keyof RunEvent] === value);
  return await until(async () => (await run.events({ limit: 10_000 })).find(isFit));
}

/** The request that the run waits for. */
export async function requestOf(holdfast: Holdfast, run: RunHandle): Promise<string> {
  const found = await until(async () => (await holdfast.requests.list({ thread: run.id, status: "pending" }))[0]);
  return found.id;
}

export async function accept(holdfast: Holdfast, run: RunHandle): Promise<void> {
  await holdfast.requests.submit(await requestOf(holdfast, run), { decision: "accepted" });
}

/** A tool that runs once a person has agreed, and how often it did. */
export function refunding(more: Partial<ToolDefinition> = {}) {
  const refunds: unknown[] = [];
  const refund: Tool = tool({
    name: "shop/refund",
    description: "Refunds.",
    inputSchema: z.object({}),
    actionPolicy: "preview",
    execute: (input) => {
      refunds.push(input);
      return { refunded: true };
    },
    ...more,
  });
  const step = { id: "refund", type: "ability", ability: "shop/refund", args: {} };
  return { refund, refunds, step, spec: { id: "refunds", steps: [step] } };
}

/** A step that runs a function of the program. */
export function runs(name: string, more: object = {}) {
  return { id: name, type: "function", function: name, ...more };
}

export function fails(): never {
  throw new Error("no rooms");
}
