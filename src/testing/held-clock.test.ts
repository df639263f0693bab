import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { withDriver } from "../../test/changed-driver.ts";
import { heldModel, heldTool, inShort } from "../../test/held.ts";
import type { Backend, Row, SqlDriver } from "../backend/sql-driver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createHoldfast, type HoldfastOptions } from "../holdfast.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";
import { heldClock } from "./held-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const rings = [callsTool("client/ring"), says("Nobody is there.")];
const bell = tool({ name: "client/ring", description: "Rings a bell.", waitMs: MINUTE });

/** A runtime that asks for work only when it is told to, and fails the test with whatever goes wrong in it. */
async function open(
  backend: Backend,
  definition: Omit<AgentDefinition, "slug">,
  options: Partial<HoldfastOptions> = {},
) {
  const errors: unknown[] = [];
  const holdfast = await createHoldfast({
    backend,
    agents: [agent({ slug: "visitor", ...definition })],
    verifies: true,
    pollMs: 60_000,
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await holdfast.close();
    expect(errors).toEqual([]);
  });
  return { holdfast, thread: await holdfast.threads.open("t", { agent: "visitor" }) };
}

describe("a request that nobody answers", () => {
  it("expires when the clock has been moved as far as it may wait, and not before", async () => {
    const clock = heldClock();
    const backend = sqlite(":memory:", { clock });
    const { holdfast, thread } = await open(backend, { model: scriptedModel(rings), tools: [bell] });
    const { waiting_for } = await thread.send("Ring.");

    await clock.advance(MINUTE - 1);
    expect(await thread.wait()).toMatchObject({ completed: false });
    await clock.advance(1);

    expect(await thread.wait()).toMatchObject({ completed: true, final_content: "Nobody is there." });
    expect(inShort((await thread.messages()).map(({ message }) => message))).toContain(
      "result client/ring: runtime_tool_timeout",
    );
    await expect(holdfast.requests.submit(waiting_for?.request_id ?? "", { result: "Me." })).rejects.toMatchObject({
      code: "request_expired",
    });
  });

  it("expires also in a database that was opened again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-test-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const clock = heldClock();
    const backend = sqlite(join(folder, "threads.db"), { clock });
    const definition = { model: scriptedModel(rings), tools: [bell] };
    const before = await open(backend, definition);
    await before.thread.send("Ring.");
    await before.holdfast.close();

    await clock.advance(MINUTE);

    const { thread } = await open(backend, definition);
    await clock.advance(0);
    expect(await thread.wait()).toMatchObject({ completed: true });
  });
});

describe("a model that is asked again later", () => {
  /** A thread that waits because its model is too busy; its worker lays it down and then goes on when it is let. */
  async function postponed() {
    const clock = heldClock();
    const { model, next, count } = heldModel();
    const retry = { attempts: 2, backoffMs: HOUR, mostMs: HOUR };
    const laidDown = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const onPoint = async (point: string) => {
      if (point !== "after commit effect.postponed and settle") return;
      laidDown.resolve();
      await goesOn.promise;
    };
    const { thread } = await open(sqlite(":memory:", { clock }), { model, retry }, { onPoint });
    const sent = thread.send("Answer me.");
    (await next()).fail(Object.assign(new Error("Too busy."), { status: 503 }));
    await laidDown.promise;
    return { clock, thread, sent, next, count, goOn: goesOn.resolve };
  }

  it("is asked when the clock says so, however long that takes", async () => {
    const { clock, sent, next, count, goOn } = await postponed();
    goOn();

    await clock.advance(HOUR - 1);
    expect(count()).toBe(0);
    await clock.advance(1);

    (await next()).answer("At last.");
    expect(await sent).toMatchObject({ completed: true, final_content: "At last." });
  });

  it("has its thread under way once the move is over, also when it was just being laid down", async () => {
    const { clock, thread, sent, next, goOn } = await postponed();

    const moved = clock.advance(HOUR).then(() => "moved");
    expect(await Promise.race([moved, turns(20)])).toBe("turned");
    goOn();
    await moved;

    expect(await thread.status()).toMatchObject({ status: "running" });
    (await next()).answer("At last.");
    await sent;
  });
});

describe("a thread that is at work while the clock is moved", () => {
  it("stays held, and its tool runs once", async () => {
    const clock = heldClock();
    const { tool: charge, next, count } = heldTool({ name: "shop/charge" });
    const { backend, sql } = withSql(sqlite(":memory:", { clock }));
    const model = scriptedModel([callsTool("shop/charge"), says("Charged.")]);
    const { thread } = await open(backend, { model, tools: [charge] });
    const sent = thread.send("Charge me.");
    const call = await next();

    await clock.advance(24 * HOUR);

    const [held] = await sql("select epoch, lease_until from threads");
    expect(held).toMatchObject({ epoch: 1 });
    expect(Number(held?.lease_until)).toBeGreaterThan(clock.now() * 1_000);
    call.answer("charged");
    expect(await sent).toMatchObject({ completed: true, final_content: "Charged." });
    expect(count()).toBe(0);
  });
});

describe("the clock", () => {
  it("is what every time is taken from", async () => {
    const clock = heldClock(new Date("2031-05-06T07:08:09.010Z"));
    const { thread } = await open(sqlite(":memory:", { clock }), { model: scriptedModel([says("Hello.")]) });
    await clock.advance(HOUR);
    await thread.send("Hello?");
    const { created_at, updated_at } = await thread.status();
    expect(new Date(created_at / 1_000).toISOString()).toBe("2031-05-06T07:08:09.010Z");
    expect(new Date(updated_at / 1_000).toISOString()).toBe("2031-05-06T08:08:09.010Z");
  });

  it("is not moved on by what goes by another clock", async () => {
    const busy = await sqlite(":memory:", { clock: heldClock() }).open();
    onTestFinished(() => busy.close());
    for (let read = 0; read < 3_000; read++) await busy.all("select now_us() as now");

    const clock = heldClock(new Date("2031-05-06T07:08:09.010Z"));
    const { thread } = await open(sqlite(":memory:", { clock }), { model: scriptedModel([]) });
    const { created_at } = await thread.status();
    expect(new Date(created_at / 1_000).toISOString()).toBe("2031-05-06T07:08:09.010Z");
  });

  it("goes on where another one stood when a file is opened again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-clock-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const read = async () => {
      const driver = await sqlite(join(folder, "holdfast.db"), { clock: heldClock() }).open();
      onTestFinished(() => driver.close());
      const times: number[] = [];
      for (let reads = 0; reads < 10; reads++) times.push(Number((await driver.all("select now_us() as now"))[0]?.now));
      await driver.close();
      return times;
    };
    const times = [...(await read()), ...(await read())];
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(new Set(times).size).toBe(times.length);
  });

  it("keeps the order of what happens while it stands still", async () => {
    const clock = heldClock();
    const { holdfast } = await open(sqlite(":memory:", { clock }), { model: scriptedModel([]) });
    const keys = ["t", "b", "c", "a", "e", "d"];
    for (const key of keys) await holdfast.threads.open(key, { agent: "visitor" });
    expect((await holdfast.threads.list()).map(({ key }) => key)).toEqual(keys);
  });

  it("can be moved before and after there is a runtime to look at it", async () => {
    const clock = heldClock(0);
    await clock.advance(1);
    const { holdfast } = await open(sqlite(":memory:", { clock }), { model: scriptedModel([]) });
    await clock.advance(1);
    await holdfast.close();
    await clock.advance(1);
    expect(clock.now()).toBe(3);
  });

  it("does not run back, and starts at a time", async () => {
    const clock = heldClock();
    for (const never of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(clock.advance(never)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(() => heldClock(new Date("never"))).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});

/** Long enough for everything that needs no more than the process itself. */
async function turns(count: number): Promise<"turned"> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
  return "turned";
}

/** The same database, with a way to look into it. */
function withSql(backend: Backend): { backend: Backend; sql(text: string): Promise<readonly Row[]> } {
  let all: SqlDriver["all"] = async () => [];
  const looking = withDriver(backend, (driver) => {
    all = driver.all;
    return {};
  });
  return { backend: looking, sql: (text) => all(text) };
}
