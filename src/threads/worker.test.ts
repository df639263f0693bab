// How workers get on with others on one database: at their end, and after the server was away.
import { expect, it, onTestFinished, vi } from "vitest";
import { withDriver } from "../../test/changed-driver.ts";
import { heldModel, heldTool } from "../../test/held.ts";
import { emptySchema } from "../../test/postgres.ts";
import { postgres } from "../backend/postgres/postgres.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../holdfast.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "./agent.ts";

it("ends without a complaint, also while it is looking whether others are alive", async () => {
  const { url, schema, drop } = await emptySchema();
  const told: unknown[] = [];
  const start = () =>
    createHoldfast({
      backend: postgres(url, { schema, connections: 2 }),
      agents: [],
      secretKey: "0d".repeat(32),
      // So short that there is always somebody looking.
      leaseMs: 4,
      onError: (error) => told.push(error),
    });
  const others = await Promise.all(Array.from({ length: 8 }, start));
  for (const _ of Array(10)) await (await start()).close();
  await Promise.all(others.map((other) => other.close()));
  await drop();
  expect(told).toEqual([]);
});

it("takes nobody for dead right after it was cut off itself: the others may be on their way back, too", async () => {
  const { url, schema, drop } = await emptySchema();
  onTestFinished(drop);
  const { tool, next: called } = heldTool({ name: "shop/charge" });
  const charging = (slug: string) =>
    agent({ slug, model: scriptedModel([callsTool("shop/charge"), says("Done.")]), tools: [tool] });
  const backend = postgres(url, { schema });
  const told: unknown[] = [];
  const common = { secretKey: "0d".repeat(32), onError: (error: unknown) => told.push(error) };
  const alive = await createHoldfast({ ...common, backend, agents: [charging("clerk")] });
  onTestFinished(() => alive.close());
  const thread = await alive.threads.open("t", { agent: "clerk" });
  const sent = thread.send("Charge.");
  const call = await called();

  let hear = (_text: string) => {};
  let looks = 0;
  let beats = 0;
  let wake = () => {};
  const blinded = withDriver(backend, ({ listen, batch }) => ({
    listen(onSignal) {
      hear = onSignal;
      return listen(onSignal);
    },
    async isSessionHeld() {
      // Right after it has looked for the first time the server goes away, and from then on it finds nobody.
      if (++looks === 1) hear("");
      return looks === 1;
    },
    async batch(statements) {
      if (statements[0]?.sql.includes("insert into workers")) beats++;
      wake();
      return await batch(statements);
    },
  }));
  const untilBeats = async (count: number) => {
    while (beats < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const agents = [charging("clerk"), charging("own")];
  // The time in which it takes nobody for dead does not pass, however long its beats take.
  const steady = performance.now();
  const standing = vi.spyOn(performance, "now").mockImplementation(() => steady);
  onTestFinished(() => standing.mockRestore());
  const watching = await createHoldfast({ ...common, backend: blinded, agents, leaseMs: 200 });
  onTestFinished(() => watching.close());
  // Something of its own to hold on to, so that its beats can be counted.
  const own = (await watching.threads.open("own", { agent: "own" })).send("Charge.");
  const ownCall = await called();
  await untilBeats(beats + 5);
  expect(looks).toBe(1);

  call.answer("charged");
  ownCall.answer("charged");
  expect(await sent).toMatchObject({ status: "completed" });
  expect(await own).toMatchObject({ status: "completed" });
  expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
  expect(told).toEqual([]);
});

it("counts no lease as lost that a thread has given back itself while leases were renewed", async () => {
  const { model, next } = heldModel();
  let isHolding = true;
  const renewing: (() => void)[] = [];
  let hasCome = Promise.withResolvers<void>();
  /** Until leases are about to be renewed. Nobody renews them twice at once: the one before is over then. */
  const renewal = async () => {
    while (renewing.length === 0) {
      await hasCome.promise;
      hasCome = Promise.withResolvers();
    }
  };
  const backend = withDriver(sqlite(":memory:"), ({ batch }) => ({
    async batch(statements) {
      const isRenewal = statements.length === 2 && statements[0]?.sql.includes("insert into workers");
      if (isRenewal && isHolding) {
        await new Promise<void>((resolve) => {
          renewing.push(resolve);
          hasCome.resolve();
        });
      }
      return await batch(statements);
    },
  }));
  const talker = agent({ slug: "talker", model });
  const holdfast = await createHoldfast({ backend, agents: [talker], leaseMs: 400, drainsOnSignal: false });
  onTestFinished(() => holdfast.close());
  onTestFinished(() => {
    isHolding = false;
    for (const go of renewing) go();
  });
  const say = async (key: string) => {
    const sent = (await holdfast.threads.open(key, { agent: "talker" })).send("Hello.");
    return { asked: await next(), sent };
  };

  const first = await say("first");
  await renewal();
  first.asked.answer("Hello.");
  await first.sent;
  renewing.shift()?.();
  const second = await say("second");
  await renewal();
  expect(await holdfast.metrics()).toMatchObject({ lost_leases: 0, refused_commits: 0 });
  renewing.shift()?.();
  isHolding = false;
  second.asked.answer("Hello.");
  await second.sent;
});
