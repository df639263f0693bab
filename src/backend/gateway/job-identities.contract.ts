// What the queue of jobs promises about duplicates, as tests.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import {
  aChildJob,
  aContext,
  aJob,
  aJobCommit,
  claimJob,
  commitJob,
  ends,
  heldJob,
  queued,
  retries,
  wrongCounters,
} from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import { everything, type StoresInTest } from "../contract/stores-in-test.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import type { ClaimedJob, JobStore, NewJob } from "./job-store.ts";

export function describeJobIdentities(name: string, open: () => Promise<StoresInTest>): void {
  describe(`identities of jobs on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let jobs: JobStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      world = await open();
      ({ stores, driver } = world);
      ({ jobs } = stores.gateway);
    });

    afterEach(async () => expect(await wrongCounters(driver)).toEqual([]));

    const keyed = (parts: Partial<NewJob> = {}) =>
      aJob({ dedupe: { hash: "hash", keep_us: MINUTE }, source_event_id: "event", ...parts });

    /** What becomes of another job of the identity, of the same event, of another one, and of none. */
    async function outcomes(): Promise<readonly string[]> {
      const found: string[] = [];
      for (const source_event_id of ["event", "other event", null]) {
        const job = keyed({ source_event_id });
        const foreseen = await jobs.duplicates([{ ...job, hash: "hash" }]);
        const [outcome] = await jobs.enqueue([job]);
        found.push(outcome?.outcome ?? "");
        const existing = outcome?.outcome === "duplicate" ? [[job.id, outcome.existing_job_id]] : [];
        expect([...foreseen].map(([id, { job_id }]) => [id, job_id])).toEqual(existing);
        // As it was before, for the next one.
        if (outcome?.outcome === "queued") await jobs.cancel(job.id, "test");
      }
      return found;
    }

    const DUPLICATES = ["duplicate", "duplicate", "duplicate"];
    const SAME_EVENT_ONLY = ["queued", "duplicate", "duplicate"];
    const ALL = ["queued", "queued", "queued"];

    it("a key that is taken once is free after its time alone, whatever becomes of its job", async () => {
      const once = { hash: "once", keep_us: MINUTE };
      const add = async (parts: Partial<NewJob> = {}) => (await jobs.enqueue([aJob({ once, ...parts })]))[0]?.outcome;
      const together = await Promise.all([add(), add(), add()]);
      expect(together.toSorted()).toEqual(["duplicate", "duplicate", "queued"]);
      const [first] = await jobs.list({ limit: 2 });
      await jobs.cancel(first?.id ?? "", "test");
      expect(await add()).toBe("duplicate");
      // What a refused job would have taken is free.
      const [dedupe, other] = [
        { hash: "hash", keep_us: MINUTE },
        { hash: "other", keep_us: MINUTE },
      ];
      expect(await add({ dedupe })).toBe("duplicate");
      expect(await add({ dedupe, once: other })).toBe("queued");
      const second = { hash: "second", keep_us: MINUTE };
      expect(await add({ dedupe, once: second })).toBe("duplicate");
      expect(await add({ once: second })).toBe("queued");
      await jobs.prune({ queue_us: 0, log_us: 0, limit: 100 });
      expect(await add()).toBe("duplicate");
      const past = { hash: "past", keep_us: 0 };
      expect([await add({ once: past }), await add({ once: past })]).toEqual(["queued", "queued"]);
    });

    it("an id stays taken while its job is in the log alone", async () => {
      // The clock was set back: a schedule comes to the same run again.
      const held = await heldJob(stores, { id: "run" });
      await commitJob(stores, aJobCommit(held));
      await jobs.prune({ queue_us: 0, log_us: MINUTE, limit: 9 });
      const again = { outcome: "duplicate", existing_job_id: "run" };
      expect(await jobs.enqueue([aJob({ id: "run" })])).toEqual([again]);
      expect(await jobs.list({ limit: 9 })).toEqual([]);
      await jobs.prune({ queue_us: 0, log_us: 0, limit: 9 });
      expect(await jobs.enqueue([aJob({ id: "run" })])).toMatchObject([{ outcome: "queued" }]);
    });

    const matrix: readonly (readonly [string, (held: ClaimedJob) => Promise<void>, readonly string[]])[] = [
      ["is queued", (held) => jobs.putBack(held), SAME_EVENT_ONLY],
      ["runs", async () => {}, SAME_EVENT_ONLY],
      [
        "awaits its retry",
        (held) => commitJob(stores, aJobCommit(held, { settlement: retries(MINUTE) })),
        SAME_EVENT_ONLY,
      ],
      ["has succeeded within its window", (held) => commitJob(stores, aJobCommit(held)), DUPLICATES],
      ...(["failed", "timed_out", "dead"] as const).map(
        (status) =>
          [
            `ended as ${status}`,
            (held: ClaimedJob) => commitJob(stores, aJobCommit(held, { settlement: ends(status) })),
            ALL,
          ] as const,
      ),
    ];

    it.each(matrix)(
      "of which one %s: what is added of the same event, of another, and of none",
      async (_, bring, expected) => {
        await bring(await heldJob(stores, keyed()));
        expect(await outcomes()).toEqual(expected);
      },
    );

    it("are free again once the window after a success is over, which is that of the job", async () => {
      await commitJob(stores, aJobCommit(await heldJob(stores, keyed({ dedupe: { hash: "hash", keep_us: 0 } }))));
      expect(await outcomes()).toEqual(ALL);
    });

    it("are free again when a job was cancelled before it ran", async () => {
      const job = keyed();
      await queued(stores, job);
      await jobs.cancel(job.id, "user:1");
      expect(await outcomes()).toEqual(ALL);
    });

    it("are held until the last of several steps of one event has ended", async () => {
      const steps = [keyed(), keyed()];
      await queued(stores, ...steps);
      const [one] = [await claimJob(stores)];
      await commitJob(stores, aJobCommit(one as ClaimedJob, { settlement: ends("failed") }));
      expect((await outcomes()).slice(1)).toEqual(["duplicate", "duplicate"]);
      const two = (await claimJob(stores)) as ClaimedJob;
      expect(two.id).toBe(steps[1]?.id);
      await commitJob(stores, aJobCommit(two, { settlement: ends("dead") }));
      expect(await outcomes()).toEqual(ALL);
    });

    it("are kept by the step that succeeded, whatever becomes of the other", async () => {
      await queued(stores, keyed(), keyed());
      await commitJob(stores, aJobCommit((await claimJob(stores)) as ClaimedJob));
      expect(await outcomes()).toEqual(DUPLICATES);
      await commitJob(stores, aJobCommit((await claimJob(stores)) as ClaimedJob, { settlement: ends("failed") }));
      expect(await outcomes()).toEqual(DUPLICATES);
    });

    it("name the job that is in the way", async () => {
      await queued(stores, keyed({ id: "first" }));
      const [again] = await jobs.enqueue([keyed({ source_event_id: "other event" })]);
      expect(again).toEqual({ outcome: "duplicate", existing_job_id: "first" });
      // Also when it is added by the same call.
      const dedupe = { hash: "another", keep_us: MINUTE };
      const [one, two] = [aJob({ id: "one", dedupe }), aJob({ dedupe })];
      expect(await jobs.enqueue([one, two])).toEqual([
        { outcome: "queued", job_id: "one" },
        { outcome: "duplicate", existing_job_id: "one" },
      ]);
    });

    it("leave a duplicate out with what belongs to it, and queue the rest", async () => {
      await queued(stores, keyed());
      const root = (id: string, hash: string) =>
        keyed({
          id,
          context_id: `context of ${id}`,
          dedupe: { hash, keep_us: MINUTE },
          source_event_id: "other event",
        });
      const left = [root("one", "hash 1"), root("two", "hash"), root("three", "hash 3")];
      const outcome = await jobs.enqueue(left, {
        contexts: left.map(({ id, context_id }) => aContext({ id: context_id ?? "", root_job_id: id })),
        stream: left.map(({ id }) => ({ type: "job.enqueued", data: "{}", job_id: id })),
      });

      expect(outcome.map((each) => each.outcome)).toEqual(["queued", "duplicate", "queued"]);
      expect((await stores.gateway.events.read({ after: 0, limit: 10 })).map(({ job_id }) => job_id)).toEqual([
        ...["one", "three"],
      ]);
      expect(await jobs.context("context of two")).toBeUndefined();
      expect(await jobs.context("context of three")).toBe("context context of three");
      expect(await jobs.outstanding("two")).toBe(0);
    });

    it("add nothing at all where everything is a duplicate", async () => {
      await queued(stores, keyed());
      const before = await everything(driver);
      await jobs.enqueue([keyed({ source_event_id: "other event" })], {
        stream: [{ type: "job.enqueued", data: "{}", job_id: null }],
      });
      expect(await everything(driver)).toEqual(before);
      expect(await jobs.enqueue([])).toEqual([]);
    });

    it("are taken by one of many that come at the same time", async () => {
      const second = (await world.openSecond?.())?.stores ?? stores;
      const outcome = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? stores : second).gateway.jobs.enqueue([keyed({ source_event_id: `event ${index}` })]),
        ),
      );
      expect(outcome.flat().filter((each) => each.outcome === "queued")).toHaveLength(1);
    });

    it("are looked for together, however many there are and however long the ids of events", async () => {
      const source_event_id = "é".repeat(1_000);
      const taken = keyed({ source_event_id });
      await queued(stores, taken);
      const others = Array.from({ length: 2_500 }, (_, n) => ({
        id: `${n}`,
        source_event_id: null,
        hash: `hash ${n}`,
      }));
      const asked = [
        { id: "same event", source_event_id, hash: "hash" },
        { id: "another event", source_event_id: `${source_event_id}!`, hash: "hash" },
        ...others,
        { id: "no event", source_event_id: null, hash: "hash" },
      ];
      expect([...(await jobs.duplicates(asked))]).toEqual([
        ["another event", { job_id: taken.id, has_ended: false }],
        ["no event", { job_id: taken.id, has_ended: false }],
      ]);
      expect([...(await jobs.duplicates([]))]).toEqual([]);
    });

    it.each<[string, (held: ClaimedJob) => Promise<void>, boolean]>([
      ["runs has not ended", async () => {}, false],
      [
        "awaits its retry has not ended",
        (held) => commitJob(stores, aJobCommit(held, { settlement: retries(0) })),
        false,
      ],
      ["has succeeded has ended", (held) => commitJob(stores, aJobCommit(held)), true],
      [
        "has left the queue has ended",
        async (held) => {
          await commitJob(stores, aJobCommit(held));
          await jobs.prune({ queue_us: 0, log_us: 0, limit: 9 });
        },
        true,
      ],
    ])("say of the job which another one would repeat: one that %s", async (_what, bring, has_ended) => {
      const held = await heldJob(stores, keyed());
      await bring(held);
      const found = await jobs.duplicates([{ id: "another", source_event_id: null, hash: "hash" }]);
      expect([...found]).toEqual([["another", { job_id: held.id, has_ended }]]);
    });

    it("never make two enqueues wait for each other", async () => {
      const second = (await world.openSecond?.())?.stores ?? stores;
      const both = (round: number) =>
        ["one", "two", "three"].map((each) => aJob({ dedupe: { hash: `${each} ${round}`, keep_us: MINUTE } }));
      for (let round = 0; round < 5; round++) {
        const [one, two] = await Promise.all([
          jobs.enqueue(both(round)),
          second.gateway.jobs.enqueue(both(round).toReversed()),
        ]);
        expect([...one, ...two].filter(({ outcome }) => outcome === "queued")).toHaveLength(3);
      }
    });

    it.each(losses)("are taken once when an enqueue loses %s", async (loss) => {
      const losing = losingDriver(driver);
      const shaky = (await world.storesOn(losing)).gateway.jobs;
      const job = keyed();
      losing.loseNext(loss);
      expect(await shaky.enqueue([job, aJob()])).toMatchObject([
        { outcome: "queued", job_id: job.id },
        { outcome: "queued" },
      ]);
      losing.loseNext(loss);
      const duplicate = await shaky.enqueue([keyed({ source_event_id: "other event" })]);
      expect(duplicate).toEqual([{ outcome: "duplicate", existing_job_id: job.id }]);
      expect(await driver.all("select holders from gateway_dedupe")).toEqual([{ holders: 1 }]);
      expect(await jobs.counts()).toMatchObject({ byStatus: { queued: 2 } });
    });

    describe("in a commit", () => {
      it("refuse it, naming the child, until that is left out", async () => {
        await queued(stores, aJob({ id: "parent" }), keyed({ id: "first" }));
        const parent = (await claimJob(stores)) as ClaimedJob;
        const dedupe = { hash: "hash", keep_us: MINUTE };
        const children = [aChildJob(parent, { id: "one" }), aChildJob(parent, { id: "two", dedupe })];
        const commit = aJobCommit(parent, { children, contexts: [aContext()] });
        const before = await everything(driver);

        expect(await jobs.commit(commit)).toEqual({ outcome: "duplicate", child_id: "two", existing_job_id: "first" });
        expect(await everything(driver)).toEqual(before);
        expect(await jobs.commit({ ...commit, children: children.slice(0, 1) })).toEqual({ outcome: "committed" });
        expect((await jobs.tree(parent.id)).map(({ id }) => id)).toEqual(["parent", "one"]);
      });

      it("are settled before the children take theirs", async () => {
        const dedupe = { hash: "hash", keep_us: MINUTE };
        const failed = await heldJob(stores, keyed());
        const again = aChildJob(failed, { dedupe });
        expect(await jobs.commit(aJobCommit(failed, { settlement: ends("failed"), children: [again] }))).toEqual({
          outcome: "committed",
        });
        const held = (await claimJob(stores)) as ClaimedJob;
        const commit = aJobCommit(held, { children: [aChildJob(held, { dedupe })] });
        expect(await jobs.commit(commit)).toMatchObject({ outcome: "duplicate", existing_job_id: held.id });
      });

      it("never let an event reach a step twice", async () => {
        const parent = await heldJob(stores);
        const place = { pipeline: "critique", step_id: "fetch", instance_id: "instance", depth: 1 };
        const step = (parts: Partial<NewJob> = {}) => aChildJob(parent, { source_event_id: "event", place, ...parts });
        const first = step();
        const commit = aJobCommit(parent, { children: [first, step({ id: "again" })] });
        expect(await jobs.commit(commit)).toEqual({
          ...{ outcome: "duplicate", child_id: "again", existing_job_id: first.id },
        });
        const others = [
          step({ place: { ...place, step_id: "critique" } }),
          step({ place: { ...place, pipeline: "other" } }),
          step({ place: null }),
          step({ plugin: "fetch" }),
          step({ command: "poll" }),
          step({ source_event_id: "other event" }),
          step({ source_event_id: null, id: "without 1" }),
          step({ source_event_id: null, id: "without 2" }),
        ];
        await commitJob(stores, aJobCommit(parent, { children: [first, ...others], settlement: retries() }));
        // As if the parent had come to the same event a second time.
        const retried = (await claimJob(stores)) as ClaimedJob;
        expect(retried.id).toBe(parent.id);
        const late = aJobCommit(retried, { children: [step({ id: "late" })] });
        expect(await jobs.commit(late)).toEqual({
          ...{ outcome: "duplicate", child_id: "late", existing_job_id: first.id },
        });
      });
    });
  });
}
