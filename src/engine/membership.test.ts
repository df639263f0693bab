import { afterEach, expect, it, vi } from "vitest";
import type { MembershipStore, Reaped } from "../backend/membership.ts";
import { createMembership } from "./membership.ts";

const DEAD: Reaped = { workers: 1, freed: { threads: 2 } };
const NONE: Reaped = { workers: 0, freed: { threads: 0 } };

afterEach(() => void vi.useRealTimers());

/** Time passes when the test says so. */
function newWorld({ isShared = true, changes = {} as Partial<MembershipStore> } = {}) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const done: string[] = [];
  const reported: unknown[] = [];
  const heard = new Set<(signal: string) => void>();
  const store: MembershipStore = {
    register: async (worker) => void done.push(`register ${worker}`),
    release: async (worker) => void done.push(`release ${worker}`),
    leave: async (worker) => void done.push(`leave ${worker}`),
    async reap() {
      done.push("reap");
      return NONE;
    },
    ...changes,
  };
  const listen = (hear: (signal: string) => void) => {
    heard.add(hear);
    return () => heard.delete(hear);
  };
  const report = (error: unknown) => void reported.push(error);
  const membership = createMembership({ store, driver: { isShared, listen }, leaseMs: 400, report });
  const signal = (text: string) => {
    for (const hear of heard) hear(text);
  };
  /** Until the next beat is over. */
  const beat = () => vi.advanceTimersByTimeAsync(100);
  return { membership, done, reported, heard, signal, beat };
}

it("makes one worker of a process, whatever it works on, and frees what dead workers had leased", async () => {
  const { membership, done, heard } = newWorld({ changes: { reap: async () => DEAD } });
  const reaped: Reaped[] = [];
  membership.onReaped((each) => void reaped.push(each));
  expect(membership.worker).toMatch(/^worker-[0-9a-f-]{36}$/);
  await membership.join();
  await membership.leave();
  const { worker } = membership;
  expect(done).toEqual([`register ${worker}`, `release ${worker}`, `leave ${worker}`]);
  expect(reaped).toEqual([DEAD]);
  expect(heard.size).toBe(0);
});

it("beats several times within a lease: every kind of work keeps its leases, then the others are looked for", async () => {
  const { membership, done, beat } = newWorld();
  membership.onBeat(async () => void done.push("threads"));
  const end = membership.onBeat(async () => void done.push("jobs"));
  await membership.join();
  done.length = 0;
  await beat();
  await beat();
  expect(done).toEqual(["threads", "jobs", "reap", "threads", "jobs", "reap"]);
  end();
  await beat();
  expect(done.slice(6)).toEqual(["threads", "reap"]);
  await membership.leave();
  done.length = 0;
  await beat();
  expect(done).toEqual([]);
});

it("never beats twice at once, however slow the database is", async () => {
  const { membership, beat } = newWorld();
  const slow = Promise.withResolvers<void>();
  let beats = 0;
  membership.onBeat(() => {
    beats++;
    return slow.promise;
  });
  await membership.join();
  for (const _ of [1, 2, 3]) await beat();
  expect(beats).toBe(1);
  const left = membership.leave();
  slow.resolve();
  await left;
});

it("keeps the leases of one kind of work when those of another cannot be kept, and judges no one then", async () => {
  const { membership, done, reported, beat } = newWorld();
  const errors = [new Error("jobs"), new Error("threads")];
  for (const error of errors) {
    membership.onBeat(async () => {
      done.push(error.message);
      throw error;
    });
  }
  await membership.join();
  done.length = 0;
  await beat();
  expect(done).toEqual(["jobs", "threads"]);
  expect(reported).toEqual([errors[0]]);
  await membership.leave();
});

it("takes no worker for dead for five seconds after its own connection was lost", async () => {
  const { membership, done, signal, beat } = newWorld();
  await membership.join();
  done.length = 0;
  signal("");
  for (let beats = 1; beats < 50; beats++) await beat();
  expect(done).toEqual([]);
  await beat();
  expect(done).toEqual(["reap"]);
  signal("some thread");
  await beat();
  expect(done).toEqual(["reap", "reap"]);
  await membership.leave();
});

it("looks for dead workers once where no other process can be alive", async () => {
  const { membership, done, beat } = newWorld({ isShared: false });
  await membership.join();
  for (const _ of [1, 2, 3]) await beat();
  expect(done.filter((each) => each === "reap")).toHaveLength(1);
  await membership.leave();
});

it("leaves without an error while the database is away: its leases run out", async () => {
  const away = new Error("The database is away.");
  const { membership, reported } = newWorld({ changes: { release: () => Promise.reject(away) } });
  await membership.join();
  await membership.leave();
  expect(reported).toEqual([away]);
});
