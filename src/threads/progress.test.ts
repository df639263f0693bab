import { expect, it, onTestFinished } from "vitest";
import type { Thread } from "../backend/thread-rows.ts";
import { createProgress } from "./progress.ts";

type Seen = Pick<Thread, "id" | "next_seq" | "run" | "status">;

/** Tells what a watcher is told while the database shows one state after the other, each for one look; null: none. */
async function toldOf(...states: readonly (Omit<Seen, "id"> | null)[]): Promise<readonly (boolean | undefined)[]> {
  const told: (boolean | undefined)[] = states.map(() => undefined);
  const over = Promise.withResolvers<void>();
  let looks = -1;
  const progress = createProgress(
    {
      async progress([id = ""]) {
        looks++;
        if (looks >= states.length) over.resolve();
        const state = states[Math.min(looks, states.length - 1)];
        return state ? [{ id, ...state }] : [];
      },
    },
    { isShared: true, pollMs: 1 },
  );
  onTestFinished(() => progress.close());
  const unwatch = progress.watch("t", (hasCome) => {
    told[looks] = hasCome;
  });
  await over.promise;
  unwatch();
  return told;
}

const running = (next_seq: number, run = 1) => ({ next_seq, run, status: "running" as const });

it("tells every commit of another process, and that a run which goes on has come to nothing", async () => {
  expect(await toldOf(running(1), running(2), running(2), running(9))).toEqual([true, false, undefined, false]);
});

it("tells that a run has come to something when the thread is laid down, or another run has followed at once", async () => {
  const idle = { next_seq: 3, run: 1, status: "idle" } as const;
  expect(await toldOf(running(1), idle, idle)).toEqual([true, true, undefined]);
  expect(await toldOf(running(1), running(8, 2), running(9, 2))).toEqual([true, true, false]);
});

it("tells that a thread is left alone, though nothing was committed", async () => {
  expect(await toldOf(running(1), { ...running(1), status: "stuck" })).toEqual([true, true]);
});

it("tells once that a thread is gone, whether or not it was ever seen", async () => {
  expect(await toldOf(running(1), null, null)).toEqual([true, true, undefined]);
  expect(await toldOf(null, null)).toEqual([true, undefined]);
});

it("tells at once what this process commits, and the end when it closes", () => {
  const progress = createProgress({ progress: async () => [] }, { isShared: false });
  const told: boolean[] = [];
  progress.watch("t", (hasCome) => told.push(hasCome));
  progress.changed("t", false);
  progress.changed("t");
  progress.changed("other");
  progress.close();
  expect(told).toEqual([false, true, true]);
});
