// Promise: whatever anybody does, in whatever order and at the same time, a call that needs a yes is applied at most once,
// as who asked for it, and never without a valid decision for exactly what it is applied with. A client's result counts
// once too. Commands are made up at random and played against the real thing, with a small model of it beside.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Action } from "./approvals/actions.ts";
import { anyCommands, play } from "./approvals/commands.ts";
import { Expectation } from "./approvals/expectation.ts";
import { finish } from "./approvals/finish.ts";
import { forgeries } from "./approvals/forgeries.ts";
import { people } from "./approvals/people.ts";
import { Runtimes } from "./approvals/runtimes.ts";
import { rules } from "./approvals/shop.ts";
import { eachDatabase, type World } from "./databases.ts";
import { firstFailure } from "./first-failure.ts";

const sizes = {
  sqlite: { numRuns: 15, maxCommands: 60 },
  postgres: { numRuns: 2, maxCommands: 50 },
} as const;

type Seen = Map<string, number>;

async function inWorld(
  world: World,
  { seen, rule }: { readonly seen: Seen; readonly rule: number },
  work: (model: Expectation, real: Runtimes) => Promise<void>,
) {
  const real = new Runtimes(world);
  real.rule = rule;
  const model = new Expectation(seen);
  try {
    await real.open();
    await work(model, real);
    await finish(model, real);
  } finally {
    await real.leave();
  }
}

/** Whoever may decide says yes to what is pending. */
const agrees = (edit: "none" | "nothing" = "none", pick = 0): Action => ({
  ...{ kind: "decide", pick, person: people.length, decision: "accepted", edit, remember: false, via: "requests" },
});
const asks: Action = { kind: "send", thread: 0, tools: ["shop/refund"] };

eachDatabase((newWorld, database) => {
  it("nothing is applied twice, and nothing without a valid decision", async () => {
    const { numRuns, maxCommands } = sizes[database];
    const seen: Seen = new Map();
    await fc.assert(
      fc.asyncProperty(fc.nat(rules.length - 1), anyCommands(maxCommands), async (rule, commands) => {
        const playAll = async (model: Expectation, real: Runtimes) =>
          await fc.asyncModelRun(() => ({ model, real }), commands);
        await inWorld(await newWorld(), { seen, rule }, playAll);
      }),
      { numRuns, unbiased: true, ...firstFailure },
    );
    // A test in which nothing happens would find nothing; a few runs may well be short ones.
    if (database === "sqlite")
      expect([...seen.keys()]).toEqual(expect.arrayContaining(["submitted", "applied", "cancelled"]));
  });

  it.each(["none", "nothing"] as const)(
    "a yes to what was written past the runtime is none, with %s of it changed by who says it",
    async (edit) => {
      const seen: Seen = new Map();
      await inWorld(await newWorld(), { seen, rule: 0 }, async (model, real) => {
        for (const forgery of ofRequests) {
          await play(model, real, { actions: [asks] });
          // Only what has ended can be written back.
          const isRevived = forgery === "revival";
          if (isRevived) await play(model, real, { actions: [agrees()] });
          const pick = isRevived ? lastOf(model) : 0;
          await play(model, real, { actions: [{ kind: "forge", pick, forgery }] });
          await play(model, real, { actions: [agrees(edit, pick)] });
          await play(model, real, { actions: [{ kind: "stop", thread: 0 }] });
        }
      });
      expect(ofRequests.map((forgery) => seen.get(`forged ${forgery}`))).toEqual(ofRequests.map(() => 1));
      expect(seen.get("applied")).toBe(1);
    },
  );

  it("a decision once and for all that was written past the runtime is none", async () => {
    const seen: Seen = new Map();
    await inWorld(await newWorld(), { seen, rule: 0 }, async (model, real) => {
      await play(model, real, { actions: [asks] });
      await play(model, real, { actions: [{ kind: "forge", pick: 0, forgery: "memory" }] });
      await play(model, real, { actions: [{ kind: "stop", thread: 0 }] });
      await play(model, real, { actions: [asks] });
      expect(model.pending()).toHaveLength(1);
    });
    expect([seen.get("forged memory"), seen.get("applied")]).toEqual([1, undefined]);
  });

  it("a call whose thread was put where calls run, past the runtime, runs on a yes and once", async () => {
    const seen: Seen = new Map();
    await inWorld(await newWorld(), { seen, rule: 0 }, async (model, real) => {
      await play(model, real, { actions: [asks] });
      await play(model, real, { actions: [{ kind: "forge", pick: 0, forgery: "state" }] });
      expect(real.shop.applied).toEqual([]);
      await play(model, real, { actions: [agrees()] });
    });
    expect([seen.get("forged state"), seen.get("applied")]).toEqual([1, 1]);
  });

  it("a request that was moved to a thread of somebody else is still not its requester's to decide", async () => {
    const real = new Runtimes(await newWorld());
    real.rule = 1;
    const seen: Seen = new Map();
    try {
      await real.open();
      const model = new Expectation(seen);
      await play(model, real, { actions: [asks] });
      const [asked] = model.asked;
      await real.sql(`update requests set thread_id = '${real.threadIds[2]}' where id = '${asked?.id}' returning 1`);
      const requester = people.find(({ user }) => user === 7)?.principal;
      const decision = { decision: "accepted" } as const;
      const submitted = real.runtime(0).requests.submit(asked?.id ?? "", decision, { principal: requester ?? {} });
      await expect(submitted).rejects.toMatchObject({ code: "approval_forbidden" });
    } finally {
      await real.leave();
    }
    expect(real.shop.applied).toEqual([]);
  });
});

/** Those that change the request itself. */
const ofRequests = forgeries.filter((forgery) => forgery !== "memory" && forgery !== "state");

/** The number that picks the last request of all. */
function lastOf(model: Expectation): number {
  for (let pick = 7; ; pick += 8) if (pick % model.asked.length === model.asked.length - 1) return pick;
}
