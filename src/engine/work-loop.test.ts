import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Moment } from "./moment.ts";
import { type Activation, type Lease, WorkLoop, type WorkLoopOptions, type WorkSource } from "./work-loop.ts";

const AN_HOUR_MS = 3_600_000;

type Job = Lease & { readonly name?: string };

/** An activation that ends when the test says so, or when its lease is lost. */
class Running implements Activation {
  readonly epoch: number;
  isReleased = false;
  isLost = false;
  expiries = 0;
  notified = 0;
  readonly renewedAt: Moment[] = [];
  readonly #end = Promise.withResolvers<void>();
  readonly done = this.#end.promise;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  renewed(at: Moment): void {
    this.renewedAt.push(at);
  }

  lost(): void {
    this.isLost = true;
    this.end();
  }

  expired(): void {
    this.expiries++;
  }

  notify(): void {
    this.notified++;
  }

  end(): void {
    this.#end.resolve();
  }

  fail(error: Error): void {
    this.#end.reject(error);
  }
}

/** A loop over work that the test makes due. It polls so rarely that only what the test does can wake it. */
function newWorld(options: Partial<WorkLoopOptions<Job>> = {}, changes: Partial<WorkSource<Job>> = {}) {
  const due: Job[] = [];
  const running = new Map<string, Running>();
  const heard = new Set<(signal: string) => void>();
  const beats = new Set<() => Promise<void>>();
  const reaped = new Set<(reaped: { workers: number; freed: object }) => void>();
  const world = {
    ...{ due, running },
    rounds: 0,
    limits: [] as number[],
    reported: [] as [unknown, string][],
    failed: [] as string[],
    ended: [] as string[],
    lost: [] as string[],
    held: undefined as readonly Lease[] | undefined,
    signal: (text: string) => {
      for (const hear of heard) hear(text);
    },
    async beat() {
      for (const work of beats) await work();
    },
    reap: (workers: number) => {
      for (const tell of reaped) tell({ workers, freed: {} });
    },
    isSubscribed: () => heard.size + beats.size + reaped.size > 0,
    get: (id: string) => running.get(id) ?? expect.fail(`${id} does not run.`),
  };
  const subscribed = <Listener>(listeners: Set<Listener>, listener: Listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const source: WorkSource<Job> = {
    async claim({ limit }) {
      world.limits.push(limit);
      return due.splice(0, limit);
    },
    renew: async (_worker, ids) => world.held ?? ids.map((id) => ({ id, epoch: running.get(id)?.epoch ?? 0 })),
    async nextDue() {
      world.rounds++;
      return due.length > 0 ? 0 : null;
    },
    activate({ id, epoch }) {
      const activation = new Running(epoch);
      running.set(id, activation);
      return activation;
    },
    failed: async ({ id }) => void world.failed.push(id),
    ended: (id) => void world.ended.push(id),
    leaseLost: (id) => void world.lost.push(id),
    concerns: (signal) => signal !== "not for jobs",
    ...changes,
  };
  const loop = new WorkLoop<Job>({
    source,
    membership: {
      worker: "worker 1",
      onBeat: (work) => subscribed(beats, work),
      onReaped: (listener) => subscribed(reaped, listener as never),
    },
    driver: { isShared: true, listen: (hear) => subscribed(heard, hear) },
    ...{ pollMs: AN_HOUR_MS, leaseMs: 30_000, drainMs: AN_HOUR_MS },
    report: (error, id) => void world.reported.push([error, id]),
    ...options,
    get concurrency() {
      return options.concurrency ?? 2;
    },
  });
  onTestFinished(async () => {
    const stopped = loop.stop();
    for (const activation of running.values()) activation.end();
    await stopped;
  });
  return Object.assign(world, { loop });
}

const job = (id: string, epoch = 1): Job => ({ id, epoch });
const until = (claim: () => unknown) => expect.poll(claim).toBeTruthy();
/** Whatever could go on by itself has gone on. */
const settled = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

afterEach(() => void vi.useRealTimers());

describe("a work loop", () => {
  it("claims as much as there is room for, and more once an item has ended", async () => {
    const { due, loop, running, ended, limits, get } = newWorld();
    due.push(job("a"), job("b"), job("c"));
    loop.start();
    await until(() => running.has("b"));
    await settled();
    expect([...running.keys()]).toEqual(["a", "b"]);
    expect(loop.active).toBe(2);
    get("a").end();
    await until(() => running.has("c"));
    expect(ended).toEqual(["a"]);
    expect(limits).toEqual([2, 1]);
  });

  it("has as much room as its options say at that moment", async () => {
    const room = { concurrency: 1 };
    const { due, loop, running } = newWorld({
      get concurrency() {
        return room.concurrency;
      },
    });
    due.push(job("a"), job("b"));
    loop.start();
    await until(() => loop.hasMoreDue);
    room.concurrency = 2;
    loop.nudge();
    await until(() => running.has("b"));
  });

  it("says that more is due than there is room for", async () => {
    const { due, loop, running, get } = newWorld({ concurrency: 1 });
    due.push(job("a"), job("b"));
    loop.start();
    await until(() => running.has("a") && loop.hasMoreDue);
    get("a").end();
    await until(() => running.has("b") && !loop.hasMoreDue);
  });

  it("looks for work again after a nudge, a signal and the death of a worker, and not after the signals of others", async () => {
    const world = newWorld({ concurrency: 9 });
    const { due, loop, running } = world;
    loop.start();
    await until(() => world.rounds === 1);
    const wakes = [() => loop.nudge(), () => world.signal("a job"), () => world.signal(""), () => world.reap(1)];
    for (const [index, wake] of wakes.entries()) {
      await settled();
      due.push(job(`${index}`));
      wake();
      await until(() => running.has(`${index}`));
    }
    await settled();
    const { rounds } = world;
    world.signal("not for jobs");
    world.reap(0);
    await settled();
    expect(world.rounds).toBe(rounds);
  });

  it("remembers a nudge that comes while it is claiming", async () => {
    const claiming = Promise.withResolvers<void>();
    const world = newWorld(
      {},
      {
        async claim() {
          await claiming.promise;
          return [];
        },
      },
    );
    world.loop.start();
    world.loop.nudge();
    claiming.resolve();
    await until(() => world.rounds === 2);
  });

  it("passes a signal on to the item that it names, and to all when signals may have been missed", async () => {
    const { due, loop, running, signal, get } = newWorld();
    due.push(job("a"), job("b"));
    loop.start();
    await until(() => running.size === 2);
    signal("a");
    signal("unknown");
    signal("not for jobs");
    expect([get("a").notified, get("b").notified]).toEqual([1, 0]);
    signal("");
    expect([get("a").notified, get("b").notified]).toEqual([2, 1]);
  });

  it("reports an item that fails, gives it back and goes on, even if it cannot be given back", async () => {
    const { due, loop, running, get, reported, failed, ended } = newWorld(
      { concurrency: 1 },
      {
        async failed({ id }) {
          failed.push(id);
          throw new Error("The database is away.");
        },
      },
    );
    due.push(job("a"), job("b"));
    loop.start();
    await until(() => running.has("a"));
    const error = new Error("The job broke.");
    get("a").fail(error);
    await until(() => running.has("b"));
    expect(reported).toEqual([[error, "a"]]);
    expect(failed).toEqual(["a"]);
    expect(ended).toEqual(["a"]);
  });

  it("gives up its old activation of an item that it has claimed again", async () => {
    const { due, loop, running, ended, get } = newWorld();
    due.push(job("a", 1));
    loop.start();
    await until(() => running.has("a"));
    const old = get("a");
    due.push(job("a", 2));
    loop.nudge();
    await until(() => old.isLost);
    expect(get("a")).toMatchObject({ epoch: 2, isLost: false });
    expect(ended).toEqual([]);
    expect(loop.active).toBe(1);
  });
});

describe("on a beat, a work loop", () => {
  it("renews what it still holds, and gives up what another has claimed or it has claimed anew elsewhere", async () => {
    const world = newWorld({ concurrency: 4 });
    const { due, loop, running, get } = world;
    for (const id of ["held", "gone", "other epoch", "given back"]) due.push(job(id));
    loop.start();
    await until(() => running.size === 4);
    get("given back").isReleased = true;
    world.held = [job("held"), job("other epoch", 2)];
    await world.beat();
    expect([...running].map(([id, { isLost, renewedAt }]) => [id, isLost, renewedAt.length])).toEqual([
      ["held", false, 1],
      ["gone", true, 0],
      ["other epoch", true, 0],
      ["given back", true, 0],
    ]);
    expect(world.lost).toEqual(["gone", "other epoch"]);
    await until(() => loop.active === 1);
  });

  it("renews a few times within a lease, and only while it runs something", async () => {
    vi.useFakeTimers({ toFake: ["performance", "Date"] });
    let renewals = 0;
    const world = newWorld(
      { leaseMs: 400 },
      {
        async renew(_worker, ids) {
          renewals++;
          return ids.map((id) => job(id));
        },
      },
    );
    const { due, loop, running, get } = world;
    loop.start();
    await until(() => world.rounds === 1);
    await world.beat();
    expect(renewals).toBe(0);
    due.push(job("a"));
    loop.nudge();
    await until(() => running.has("a"));
    for (const time of [0, 99, 1, 0, 100]) {
      vi.advanceTimersByTime(time);
      await world.beat();
    }
    expect(renewals).toBe(3);
    expect(get("a").renewedAt).toHaveLength(3);
  });
});

describe("after its connection was lost, a work loop", () => {
  it("renews at once, and gives up what another worker has taken meanwhile", async () => {
    const world = newWorld({ concurrency: 2, leaseMs: AN_HOUR_MS });
    const { due, loop, running, get, signal } = world;
    due.push(job("held"), job("taken"));
    loop.start();
    await until(() => running.size === 2);
    await world.beat();
    world.held = [job("held"), job("taken", 2)];
    await world.beat();
    expect(get("taken").isLost).toBe(false);
    signal("");
    await until(() => get("taken").isLost);
    expect([get("held").isLost, world.lost]).toEqual([false, ["taken"]]);
  });

  it("counts a lease as lost once, however many renewals find that out", async () => {
    const answers: ((held: readonly Lease[]) => void)[] = [];
    const renew = () => new Promise<readonly Lease[]>((resolve) => answers.push(resolve));
    const world = newWorld({}, { renew });
    const { due, loop, running, get, signal } = world;
    due.push(job("a"));
    loop.start();
    await until(() => running.has("a"));
    const beating = world.beat();
    signal("");
    await until(() => answers.length === 2);
    for (const answer of answers) answer([]);
    await beating;
    await until(() => get("a").isLost);
    await settled();
    expect(world.lost).toEqual(["a"]);
  });

  it("reports that it cannot renew yet", async () => {
    const away = new Error("The database is away.");
    const world = newWorld({}, { renew: () => Promise.reject(away) });
    world.due.push(job("a"));
    world.loop.start();
    await until(() => world.running.has("a"));
    world.signal("");
    await until(() => world.reported.length === 1);
    expect(world.reported).toEqual([[away, ""]]);
  });
});

describe("while no renewal is answered, a work loop", () => {
  const LEASE_MS = 4_000;
  const LOOK_MS = 200;

  /** Time passes when the test says so. Answers of renewals wait for it too. */
  async function silentWorld(options: Partial<WorkLoopOptions<Job>> = {}) {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const answers: ((held: readonly Lease[]) => void)[] = [];
    const renew = () => new Promise<readonly Lease[]>((resolve) => answers.push(resolve));
    const world = newWorld({ leaseMs: LEASE_MS, ...options }, { renew });
    world.due.push(job("a"));
    world.loop.start();
    await until(() => world.running.has("a"));
    const a = world.get("a");
    return { ...world, a, answers, pass: (time: number) => vi.advanceTimersByTime(time) };
  }

  it("ends what a successor would repeat, before the lease has run out and once", async () => {
    const { a, pass } = await silentWorld();
    pass(LEASE_MS - 2 * LOOK_MS);
    expect(a.expiries).toBe(0);
    pass(2 * LOOK_MS - 1);
    expect([a.expiries, a.isLost]).toEqual([1, false]);
    pass(LEASE_MS);
    expect(a.expiries).toBe(1);
  });

  it("counts from the last renewal that was answered, from the moment at which that was sent", async () => {
    const { a, answers, beat, pass } = await silentWorld();
    pass(1_000);
    const beating = beat();
    pass(1_000);
    answers[0]?.([job("a")]);
    await beating;
    pass(LEASE_MS - 1_000 - 2 * LOOK_MS);
    expect(a.expiries).toBe(0);
    pass(2 * LOOK_MS - 1);
    expect(a.expiries).toBe(1);
  });

  it("renews no lease of what it has ended, and an answer that comes late brings nothing back", async () => {
    const { a, answers, beat, pass } = await silentWorld();
    const beating = beat();
    pass(LEASE_MS);
    expect(a.expiries).toBe(1);
    answers[0]?.([job("a")]);
    await beating;
    await beat();
    expect([answers.length, a.renewedAt, a.isLost]).toEqual([1, [], false]);
  });

  it("gives up what it has ended once it hears that another worker has it", async () => {
    const { a, answers, beat, pass } = await silentWorld();
    const beating = beat();
    pass(LEASE_MS);
    answers[0]?.([job("a", 2)]);
    await beating;
    expect([a.expiries, a.isLost]).toEqual([1, true]);
  });

  it("asks the database first after a time in which this process stood still", async () => {
    const { a, pass } = await silentWorld();
    pass(1_000);
    // Nothing but the clock goes on.
    const held = performance.now.bind(performance);
    const ahead = vi.spyOn(performance, "now").mockImplementation(() => held() + LEASE_MS);
    pass(LOOK_MS);
    const first = a.expiries;
    pass(LEASE_MS / 4 + LOOK_MS);
    // Before the clock itself is given back.
    ahead.mockRestore();
    expect([first, a.expiries]).toEqual([0, 1]);
  });

  it("ends nothing where no other process can take it over", async () => {
    const { a, pass } = await silentWorld({ driver: { isShared: false, listen: () => () => undefined } });
    pass(2 * LEASE_MS);
    expect(a.expiries).toBe(0);
  });

  it("ends nothing of which a successor repeats nothing", async () => {
    const { a, pass } = await silentWorld();
    Object.assign(a, { expired: undefined });
    pass(2 * LEASE_MS);
    expect(a.isLost).toBe(false);
  });
});

describe("while the database is away, a work loop", () => {
  it("asks less and less often, reports each time, and goes on as soon as it is back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const away = new Error("The database is away.");
    let isAway = true;
    let attempts = 0;
    const world = newWorld(
      {},
      {
        async claim() {
          attempts++;
          if (isAway) throw away;
          return [];
        },
      },
    );
    world.loop.start();
    await vi.advanceTimersByTimeAsync(0);
    for (const [index, pause] of [50, 150, 350, 750].entries()) {
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(attempts).toBe(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(attempts).toBe(index + 2);
    }
    expect(world.reported).toEqual(Array(5).fill([away, ""]));
    isAway = false;
    world.loop.nudge();
    await vi.advanceTimersByTimeAsync(0);
    expect(world.rounds).toBe(1);
    isAway = true;
    world.loop.nudge();
    await vi.advanceTimersByTimeAsync(50);
    expect(world.reported).toHaveLength(7);
  });
});

describe("while something is due that it cannot claim, a work loop", () => {
  it("asks again at once, then after pauses that grow to a tenth of a second", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let rounds = 0;
    const { loop } = newWorld(
      {},
      {
        claim: async () => [],
        async nextDue() {
          rounds++;
          return 0;
        },
      },
    );
    loop.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(rounds).toBe(2);
    for (const pause of [1, 2, 4, 8, 16, 32, 64, 100, 100]) {
      const before = rounds;
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(rounds).toBe(before);
      await vi.advanceTimersByTimeAsync(1);
      expect(rounds).toBe(before + 1);
    }
  });
});

describe("a work loop that stops", () => {
  it("claims nothing more and waits for what runs", async () => {
    const { due, loop, running, get, isSubscribed } = newWorld({ concurrency: 1 });
    due.push(job("a"), job("b"));
    loop.start();
    await until(() => running.has("a"));
    let hasStopped = false;
    const stopped = loop.stop().then(() => {
      hasStopped = true;
    });
    expect(loop.isStopping).toBe(true);
    await settled();
    expect(hasStopped).toBe(false);
    expect(get("a").isLost).toBe(false);
    expect(isSubscribed()).toBe(true);
    get("a").end();
    await stopped;
    expect(due).toEqual([job("b")]);
    expect(isSubscribed()).toBe(false);
  });

  it("gives up what takes too long", async () => {
    const { due, loop, running, get } = newWorld({ drainMs: 0 });
    due.push(job("a"));
    loop.start();
    await until(() => running.has("a"));
    await loop.stop();
    expect(get("a").isLost).toBe(true);
    expect(loop.active).toBe(0);
  });

  it("keeps its leases while it waits", async () => {
    const { due, loop, running, get, beat } = newWorld();
    due.push(job("a"));
    loop.start();
    await until(() => running.has("a"));
    const stopped = loop.stop();
    await beat();
    expect(get("a").renewedAt).toHaveLength(1);
    get("a").end();
    await stopped;
  });
});

describe("by a clock that a test holds, a work loop", () => {
  function heldWorld(changes: Partial<WorkSource<Job>> = {}) {
    let onMoved: (() => Promise<void>) | undefined;
    const clock = {
      now: () => 0,
      watch(watcher: () => Promise<void>) {
        onMoved = watcher;
        return () => {
          onMoved = undefined;
        };
      },
    };
    const world = newWorld({ clock }, changes);
    return Object.assign(world, { move: () => onMoved?.() });
  }

  it("lets the clock go on once everything that is due then is under way", async () => {
    const begun = Promise.withResolvers<void>();
    const world = heldWorld({
      activate({ id, epoch }) {
        const activation = Object.assign(new Running(epoch), { begun: begun.promise });
        world.running.set(id, activation);
        return activation;
      },
    });
    world.loop.start();
    await until(() => world.rounds === 1);
    let isOver = false;
    world.due.push(job("a"));
    const moved = world.move()?.then(() => {
      isOver = true;
    });
    await until(() => world.running.has("a"));
    await settled();
    expect(isOver).toBe(false);
    begun.resolve();
    await moved;
  });

  it("lets it go on when nothing is due, when there is no room, and when it stops", async () => {
    const world = heldWorld();
    world.loop.start();
    await world.move();
    world.due.push(job("a"), job("b"), job("c"));
    const moved = world.move();
    await until(() => world.running.size === 2);
    for (const activation of world.running.values()) activation.end();
    await moved;
    const last = world.move();
    const stopped = world.loop.stop();
    for (const activation of world.running.values()) activation.end();
    await Promise.all([last, stopped]);
  });
});
