// Runs one thread through so many turns.
import assert from "node:assert/strict";
import type { Backend } from "../../src/backend/sql-driver.ts";
import type { AgentDefinition } from "../../src/index.ts";
import { median } from "../median.ts";
import { AGENT, nullAgent } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";

export type Ran = {
  /** A turn, from the moment the message is sent until its outcome is known. */
  readonly microseconds: number;
  /** When the model was asked, in milliseconds. */
  readonly stamps: readonly number[];
};

type Options = {
  readonly definition?: Partial<AgentDefinition>;
  readonly result?: unknown;
  /** Told right before the message is sent, and right after its outcome is known. */
  readonly onSend?: () => void;
  readonly onDone?: () => void;
};

export async function runThread(backend: Backend, turns: number, options: Options = {}): Promise<Ran> {
  const { definition, result, onSend, onDone } = options;
  const stamps: number[] = [];
  const stepper = nullAgent(turns, { ...definition, result, onAsked: () => stamps.push(performance.now()) });
  const holdfast = await openRuntime(backend, [stepper]);
  try {
    const thread = await holdfast.threads.open("bench", { agent: AGENT });
    onSend?.();
    const start = performance.now();
    const { status } = await thread.send("go");
    const microseconds = ((performance.now() - start) * 1000) / turns;
    onDone?.();
    assert.equal(status, "completed");
    assert.equal(stamps.length, turns + 1, "the model was asked another number of times");
    return { microseconds, stamps };
  } finally {
    await holdfast.close();
  }
}

/** Microseconds that a turn took, of the hundred turns up to that one. */
export function turnUpTo({ stamps }: Ran, turn: number): number {
  const window = stamps.slice(Math.max(0, turn - WINDOW), turn + 1);
  return median(window.slice(1).map((stamp, index) => (stamp - (window[index] ?? Number.NaN)) * 1000));
}

const WINDOW = 100;
