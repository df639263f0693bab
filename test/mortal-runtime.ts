// A runtime that can die in the middle of anything, and leave its database as a killed process would: from then on
// nothing of what it does reaches the database. Quicker than a process of its own, so that it can die often.
import { expect, onTestFinished } from "vitest";
import type { Backend, SqlDriver } from "../src/backend/sql-driver.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../src/holdfast.ts";
import type { Agent } from "../src/threads/agent.ts";
import { withDriver } from "./changed-driver.ts";
import { secretKey, type World } from "./databases.ts";

export type MortalRuntime = Holdfast & {
  /** Resolves once it is dead and others can take over. */
  readonly died: Promise<void>;
  die(): Promise<void>;
};

/** Told of every crash point; where it says true, the runtime dies there. */
type Fate = (point: string) => boolean;

export type MortalBackend = {
  readonly backend: Backend;
  /** To be passed every crash point. */
  readonly onPoint: (point: string) => Promise<void>;
  readonly isDead: boolean;
  readonly died: Promise<void>;
  die(): Promise<void>;
};

/** A backend that nothing reaches any more once it is dead. */
export function mortalBackend(chosen: Backend, fate: Fate): MortalBackend {
  let driver: SqlDriver | undefined;
  let isDead = false;
  const { promise: died, resolve: dead } = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});

  /** What was begun before the end may still have happened: nobody is told. */
  async function unlessDead<Value>(work: () => Promise<Value>): Promise<Value> {
    if (isDead) return await never;
    try {
      const value = await work();
      return isDead ? await never : value;
    } catch (thrown) {
      return isDead ? await never : await Promise.reject(thrown);
    }
  }

  const backend = withDriver(chosen, (real) => {
    driver = real;
    return {
      all: (...given) => unlessDead(() => real.all(...given)),
      readLong: (...given) => unlessDead(() => real.readLong(...given)),
      batch: (...given) => unlessDead(() => real.batch(...given)),
      isSessionHeld: (...given) => unlessDead(() => real.isSessionHeld(...given)),
      listen: (onSignal) => real.listen((text) => !isDead && onSignal(text)),
    };
  });

  async function die(): Promise<void> {
    if (!isDead) {
      isDead = true;
      await driver?.close();
      dead();
    }
    await died;
  }

  return {
    ...{ backend, died, die },
    get isDead() {
      return isDead;
    },
    async onPoint(point) {
      if (isDead) return await never;
      if (!fate(point)) return;
      void die();
      await never;
    },
  };
}

export async function openMortal(
  world: Pick<World, "backend">,
  agents: readonly Agent[],
  fate: Fate = () => false,
  options: Partial<HoldfastOptions> = {},
) {
  const mortal = mortalBackend(world.backend, fate);
  const { backend, onPoint, died, die } = mortal;
  let hasClosed = false;
  const errors: unknown[] = [];
  const holdfast = await createHoldfast({
    ...{ backend, agents, secretKey, verifies: true, pollMs: 60_000, drainMs: 500, drainsOnSignal: false, onPoint },
    onError: (error) => !mortal.isDead && errors.push(error),
    ...options,
  });
  const close = async () => {
    hasClosed = true;
    await holdfast.close();
  };
  onTestFinished(async () => {
    if (!hasClosed) await (mortal.isDead ? died : close());
    expect(errors).toEqual([]);
  });
  return Object.assign(Object.create(holdfast) as typeof holdfast, { close, died, die }) satisfies MortalRuntime;
}
