// Promise: one worker a thread, and stored work will run. Who lost a thread can write nothing and begins nothing, and
// whatever happens to a process, somebody else goes on.
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Backend } from "../src/backend/sql-driver.ts";
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Model } from "../src/models/model.ts";
import { callsTool, type ScriptedStep, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type Agent, type AgentDefinition, agent } from "../src/threads/agent.ts";
import { toolUnderWay } from "../src/threads/calls/run-tool.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { startProcess } from "./another-process.ts";
import { eachDatabase, onPostgres, type World } from "./databases.ts";
import { script as dyingScript } from "./dying-tool.ts";
import { heldModel, heldTool } from "./held.ts";

const dyingRuntime = import.meta.resolve("./dying-runtime.ts");
const price = { input: 1, output: 10 };

function clerk(model: readonly ScriptedStep[] | Model, more: Partial<AgentDefinition> = {}): Agent {
  const asked = typeof model === "function" ? model : (scriptedModel(model) as Model);
  return agent({ slug: "clerk", model: asked, ...more });
}

/** A step of a script that first does this. */
function doing(first: () => unknown, answer = says("Done.")): ScriptedStep {
  return async () => {
    await first();
    return answer;
  };
}

async function texts(thread: ThreadHandle): Promise<readonly Message["content"][]> {
  return (await thread.messages()).map(({ message }) => message.content);
}

/** In microseconds: nothing else takes a thread before a test gives it up. */
const YEAR_2100 = 4_102_444_800_000_000;

/** Has a worker that does not exist take the thread, as if the lease of its holder had run out. */
async function steal(world: World): Promise<void> {
  await world.sql(`update threads set epoch = epoch + 1, lease_by = 'thief', lease_until = ${YEAR_2100} returning 1`);
}

/** Lets the thief lose the thread again. */
async function giveUp(world: World): Promise<void> {
  await world.sql("update threads set lease_by = null, lease_until = 0 where lease_by = 'thief' returning 1");
}

/** Until this process is no longer at work on the call: no attempt follows. */
async function untilReturned(idempotencyKey: string): Promise<void> {
  while (toolUnderWay(idempotencyKey)) await new Promise(setImmediate);
}

/** Both from a process of its own, without this one waking up in between. */
function stealAndGiveUp({ address }: World): void {
  const sql = "update threads set epoch = epoch + 1, lease_by = null, lease_until = 0";
  const script =
    "path" in address
      ? `import { DatabaseSync } from "node:sqlite";
        new DatabaseSync(${JSON.stringify(address.path)}, { timeout: 5_000 }).exec("${sql}");`
      : `import { query } from ${JSON.stringify(import.meta.resolve("./postgres.ts"))};
        await query(${JSON.stringify(address.url)}, 'set search_path to ${address.schema}; ${sql}');`;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  expect(status).toBe(0);
}

class ProviderError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The provider answers ${status}.`);
    this.status = status;
  }
}

onPostgres((newWorld) => {
  it("tells a sender elsewhere what its run came to, also when another run follows without a pause", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    await world.open(clerk(model));
    const elsewhere = await world.open(clerk(model), { runs: false });
    const thread = await elsewhere.threads.open("t", { agent: "clerk" });

    const sent = thread.send("One.");
    const first = await asked();
    const other = thread.send("Two.");
    await world.untilLeft(thread.id, 2);
    first.answer("First.");
    const second = await asked();

    // The second run is under way, and stays so until the first sender has heard.
    expect(await sent).toMatchObject({ status: "completed", run: 1, final_content: "First." });
    second.answer("Second.");
    expect(await other).toMatchObject({ status: "completed", run: 2, final_content: "Second." });
  });

  it("never has one thread run by two workers", async () => {
    const world = await newWorld();
    const running = new Set<unknown>();
    const overlaps: unknown[] = [];
    const workers = new Set<number>();
    const sharesWork = Promise.withResolvers<void>();
    const inWorker = (worker: number) =>
      clerk(
        async (_messages, { thread_id }) => {
          if (running.has(thread_id)) overlaps.push(thread_id);
          running.add(thread_id);
          workers.add(worker);
          if (workers.size > 1) sharesWork.resolve();
          // No worker has room for all of the threads: another one takes those that are left.
          await sharesWork.promise;
          // Long enough for another worker to take the thread, if it could.
          await world.sql("select 1");
          running.delete(thread_id);
          return { content: "Hi.", tool_calls: [] };
        },
        { maxTurns: 50 },
      );
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map((worker) => world.open(inWorker(worker), { concurrency: 2, pollMs: 20 })),
    );
    const runtimes = [first, second, third].filter((each) => each !== undefined);

    const sends = runtimes.flatMap((runtime) =>
      Array.from({ length: 8 }, async (_, index) => {
        const thread = await runtime.threads.open(`t${index}`, { agent: "clerk" });
        await Promise.all([thread.send("one"), thread.send("two"), thread.send("three")]);
        return thread;
      }),
    );
    const threads = await Promise.all(sends);

    expect(overlaps).toEqual([]);
    expect(workers.size).toBeGreaterThan(1);
    for (const thread of threads.slice(0, 8)) {
      await thread.wait();
      expect((await texts(thread)).filter((text) => text !== "Hi.")).toHaveLength(9);
    }
  });

  it("goes on with what a killed process held, long before its lease is over", async () => {
    const world = await newWorld();
    const given = { key: "t", diesInModel: false, leaseMs: 600_000 };
    const other = startProcess(world, dyingRuntime, given);
    expect(await other.says()).toBe("asked");
    const holdfast = await world.open(clerk([says("Hi.")]));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await other.end("SIGKILL");

    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(await texts(thread)).toEqual(["Hello.", "Hi."]);
  });

  it("goes on at once with what an ended process gave back", async () => {
    const world = await newWorld();
    const given = { key: "t", diesInModel: false, leaseMs: 600_000 };
    const other = startProcess(world, dyingRuntime, given);
    expect(await other.says()).toBe("asked");
    const holdfast = await world.open(clerk([says("Hi.")]));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await other.end("SIGTERM");

    expect(await other.ended).toEqual({ code: null, signal: "SIGTERM" });
    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(await texts(thread)).toEqual(["Hello.", "Hi."]);
    expect(await world.sql("select id from workers")).toHaveLength(1);
  });
});

eachDatabase((newWorld) => {
  describe("a worker that has lost a thread", () => {
    it("cannot commit the answer of its model, and the thread goes on once elsewhere", async () => {
      const world = await newWorld();
      const asked = Promise.withResolvers<void>();
      const loses = doing(async () => {
        await steal(world);
        asked.resolve();
      }, says("Hi."));
      const loser = await world.open(clerk([loses]));
      const { id } = await loser.threads.open("t", { agent: "clerk" });
      await (await loser.threads.get(id)).queueMessage("Hello.");
      await asked.promise;
      await loser.close();
      const holdfast = await world.open(clerk([says("Hi again.")]), { pollMs: 20 });
      const thread = await holdfast.threads.get(id);
      expect(await texts(thread)).toEqual(["Hello."]);

      await giveUp(world);

      expect(await thread.wait()).toMatchObject({ status: "completed" });
      expect(await texts(thread)).toEqual(["Hello.", "Hi again."]);
    });

    it("does not begin the tool that its model has asked for", async () => {
      const world = await newWorld();
      const runs: string[] = [];
      const chargeOf = (worker: string) =>
        tool({ name: "shop/charge", description: "Charges.", execute: () => runs.push(worker) });
      const asked = Promise.withResolvers<void>();
      const loses = doing(async () => {
        await steal(world);
        asked.resolve();
      }, callsTool("shop/charge"));
      const loser = await world.open(clerk([loses], { tools: [chargeOf("loser")] }));
      const { id } = await loser.threads.open("t", { agent: "clerk" });
      await (await loser.threads.get(id)).queueMessage("Charge.");
      await asked.promise;
      await loser.close();
      const script = [callsTool("shop/charge"), says("Done.")];
      const holdfast = await world.open(clerk(script, { tools: [chargeOf("other")] }), { pollMs: 20 });
      expect(runs).toEqual([]);

      await giveUp(world);

      const thread = await holdfast.threads.get(id);
      expect(await thread.wait()).toMatchObject({ status: "completed" });
      expect(runs).toEqual(["other"]);
    });

    it("begins nothing after it has slept through its lease, even though it had committed that it would", async () => {
      const world = await newWorld();
      let runs = 0;
      let slept = false;
      const charge = tool({ name: "shop/charge", description: "Charges.", execute: () => ++runs });
      const leaseMs = 200;
      const holdfast = await world.open(clerk([callsTool("shop/charge"), says("Done.")], { tools: [charge] }), {
        leaseMs,
        pollMs: 20,
        onPoint(point) {
          if (slept || point !== "after commit begun run_tool") return;
          slept = true;
          // The whole process sleeps, timers and all; meanwhile somebody else has taken the thread and is gone again.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, leaseMs + 50);
          stealAndGiveUp(world);
        },
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      const outcome = await thread.send("Charge.");

      expect(outcome).toMatchObject({ status: "completed" });
      expect(runs).toBe(0);
      expect(await thread.calls()).toMatchObject([{ phase: "unknown" }]);
    });

    it("does not try a tool again that failed", async () => {
      const world = await newWorld();
      const attempts: number[] = [];
      const begun = Promise.withResolvers<string>();
      const charge = tool({
        name: "shop/charge",
        description: "Charges.",
        retry: { attempts: 5, backoffMs: 200 },
        execute: async (_input, { attempt, idempotencyKey }) => {
          attempts.push(attempt);
          await steal(world);
          begun.resolve(idempotencyKey);
          throw new Error("Not yet.");
        },
      });
      const holdfast = await world.open(clerk([callsTool("shop/charge"), says("Done.")], { tools: [charge] }), {
        leaseMs: 200,
        pollMs: 20,
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      await thread.queueMessage("Charge.");
      await untilReturned(await begun.promise);

      expect(attempts).toEqual([1]);
      await giveUp(world);
      expect(await thread.wait()).toMatchObject({ status: "completed" });
      expect(await thread.calls()).toMatchObject([{ phase: "unknown" }]);
    });

    it("does not try a tool again after it has taken the thread again itself", async () => {
      const world = await newWorld();
      const attempts: number[] = [];
      const begun = Promise.withResolvers<string>();
      const charge = tool({
        name: "shop/charge",
        description: "Charges.",
        retry: { attempts: 5, backoffMs: 300 },
        execute: async (_input, { attempt, idempotencyKey }) => {
          attempts.push(attempt);
          begun.resolve(idempotencyKey);
          await steal(world);
          await giveUp(world);
          throw new Error("Not yet.");
        },
      });
      const holdfast = await world.open(clerk([callsTool("shop/charge"), says("Done.")], { tools: [charge] }), {
        pollMs: 20,
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      expect(await thread.send("Charge.")).toMatchObject({ status: "completed" });
      await untilReturned(await begun.promise);

      expect(attempts).toEqual([1]);
      expect(await thread.calls()).toMatchObject([{ phase: "unknown" }]);
    });
  });

  it("never takes a thread again that it is at work on, though its lease seems to be over", async () => {
    const world = await newWorld();
    const { tool: charge, next: charging } = heldTool({ name: "shop/charge", reconcile: () => ({ status: "absent" }) });
    const script = [callsTool("shop/charge"), says("Charged.")];
    const brief = agent({ slug: "brief", model: () => says("Hi.") });
    const holdfast = await world.open([clerk(script, { tools: [charge] }), brief]);
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const other = await holdfast.threads.open("other", { agent: "brief" });
    const sent = thread.send("Charge.");
    const call = await charging();

    // The clock of the database ran ahead of ours, as after a laptop has slept: the lease is over before it was renewed.
    await world.sql(`update threads set lease_until = 0 where id = '${thread.id}' returning 1`);
    // It looks for work in the meantime, and finds some.
    expect(await other.send("Hello.")).toMatchObject({ status: "completed" });

    const [row] = await world.sql(`select epoch from threads where id = '${thread.id}'`);
    expect(Number(row?.epoch)).toBe(1);
    expect(call.context.signal.aborted).toBe(false);
    call.answer("charged");
    expect(await sent).toMatchObject({ status: "completed", final_content: "Charged." });
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
  });

  describe("a thread that kills its process", () => {
    it.each([
      ["is stuck after three times without a commit, and goes on when it is told to", {}],
      ["is stuck, too, when its model has a price: counting what an attempt cost is no progress", { price }],
    ])("%s", async (_title, priced) => {
      const world = await newWorld();
      const given = { key: "t", diesInModel: true, leaseMs: 600_000, ...priced };
      const die = async () => {
        const { ended } = startProcess(world, dyingRuntime, given);
        expect(await ended).toMatchObject({ signal: "SIGKILL" });
        return Number((await world.sql("select claims from threads"))[0]?.claims);
      };
      // The first process stores what it is about to do; those after it get no further.
      expect([await die(), await die()]).toEqual([0, 1]);
      await world.sql("update threads set claims = 3 returning 1");
      const holdfast = await world.open(clerk([says("Hi."), says("I am.")]));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      const other = await holdfast.threads.open("other", { agent: "clerk" });

      await expect(thread.send("Are you there?")).rejects.toMatchObject({ code: "thread_stuck" });
      await expect(thread.wait()).rejects.toMatchObject({ code: "thread_stuck" });
      expect(await holdfast.threads.list({ status: "stuck" })).toMatchObject([{ id: thread.id, status: "stuck" }]);
      expect(await other.send("And you?")).toMatchObject({ status: "completed" });
      await expect(holdfast.threads.retry(other.id)).rejects.toMatchObject({ code: "thread_not_stuck" });
      await expect(holdfast.threads.retry("nobody")).rejects.toMatchObject({ code: "thread_not_found" });

      await holdfast.threads.retry(thread.id);

      expect(await thread.wait()).toMatchObject({ status: "completed" });
      expect(await texts(thread)).toEqual(["Hello.", "Hi.", "Are you there?", "I am."]);
      expect(await holdfast.threads.list({ status: "stuck" })).toEqual([]);
    });
  });

  describe("a tool that kills its process", () => {
    it("is not run again for ever, though it may be repeated: beginning it again is no progress", async () => {
      const world = await newWorld();
      const die = async () => {
        const { ended } = startProcess(world, import.meta.resolve("./dying-tool.ts"), { slugs: ["clerk"] });
        expect(await ended).toMatchObject({ signal: "SIGKILL" });
        return Number((await world.sql("select claims from threads"))[0]?.claims);
      };
      // The first process gets as far as the tool; those after it only begin the tool again.
      expect([await die(), await die()]).toEqual([0, 1]);
      await world.sql("update threads set claims = 3 returning 1");
      let runs = 0;
      const charge = tool({ name: "shop/charge", description: "Charges.", idempotent: true, execute: () => ++runs });
      const holdfast = await world.open(clerk(dyingScript, { tools: [charge] }));
      const thread = await holdfast.threads.open("clerk", { agent: "clerk" });

      await expect(thread.wait()).rejects.toMatchObject({ code: "thread_stuck" });
      expect(runs).toBe(0);

      await holdfast.threads.retry(thread.id);
      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Done." });
      expect(runs).toBe(1);
    });
  });

  describe("a model that fails", () => {
    it("is asked again after a while, for which the thread is laid down", async () => {
      const world = await newWorld();
      let asked = 0;
      const meanwhile: unknown[] = [];
      const retry = { attempts: 3, backoffMs: 20 };
      const busy = clerk([doing(() => ++asked < 3 && fail(503), says("At last."))], { retry });
      const holdfast = await world.open(busy, {
        async onPoint(point) {
          if (point !== "after commit effect.postponed and settle") return;
          meanwhile.push(...(await world.sql("select status, lease_by from threads where due_at is not null")));
        },
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      expect(await thread.send("Hello.")).toMatchObject({ status: "completed", final_content: "At last." });

      expect(asked).toBe(3);
      const laidDown = { status: "waiting", lease_by: null };
      expect(meanwhile).toEqual([laidDown, laidDown]);
      expect(await texts(thread)).toEqual(["Hello.", "At last."]);
    });

    it("is still waited for while it is laid down", async () => {
      const world = await newWorld();
      let asked = 0;
      const postponed = Promise.withResolvers<void>();
      const busy = clerk([doing(() => ++asked === 1 && fail(429), says("At last."))], { retry: { backoffMs: 100 } });
      const holdfast = await world.open(busy, {
        onPoint: (point) => (point.startsWith("after commit effect.postponed") ? postponed.resolve() : undefined),
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      await thread.queueMessage("Hello.");
      await postponed.promise;

      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "At last." });
    });

    it("can be stopped while it is laid down", async () => {
      const world = await newWorld();
      const postponed = Promise.withResolvers<void>();
      const busy = clerk([doing(() => fail(503)), says("Later.")], { retry: { backoffMs: 600_000, mostMs: 600_000 } });
      const holdfast = await world.open(busy, {
        onPoint: (point) => (point.startsWith("after commit effect.postponed") ? postponed.resolve() : undefined),
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      await thread.queueMessage("Hello.");
      await postponed.promise;

      expect(await thread.stop()).toMatchObject({ status: "stopped" });
      expect(await thread.runs()).toMatchObject([{ status: "interrupted" }]);
    });

    it("fails its run after the last attempt, and not the thread", async () => {
      const world = await newWorld();
      let asked = 0;
      const broken = clerk(
        (messages) => {
          asked++;
          if (messages.length === 1) fail(503);
          return { content: "Better now.", tool_calls: [] };
        },
        { retry: { attempts: 3, backoffMs: 1 } },
      );
      const holdfast = await world.open(broken);
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      expect(await thread.send("Hello.")).toMatchObject({ status: "failed", completed: false });

      expect(asked).toBe(3);
      expect((await thread.status()).status).toBe("idle");
      expect(await thread.send("Better?")).toMatchObject({ status: "completed", final_content: "Better now." });
    });

    it("is not asked again when asking again cannot help", async () => {
      const world = await newWorld();
      let asked = 0;
      const refusing = clerk([doing(() => fail(400 + asked++))], { retry: { attempts: 3, backoffMs: 1 } });
      const holdfast = await world.open(refusing);
      const thread = await holdfast.threads.open("t", { agent: "clerk" });

      expect(await thread.send("Hello.")).toMatchObject({ status: "failed" });
      expect(asked).toBe(1);
    });
  });

  it("lets others have their turn while one thread goes on and on", async () => {
    const world = await newWorld();
    const steps = 150;
    const finished: string[] = [];
    const note = tool({ name: "shop/note", description: "Notes.", repeatable: true, execute: () => "noted" });
    const long: Model = async (_messages, _context, { step = 0 }) => {
      if (step === 0) await short.queueMessage("Me too.");
      if (step < steps) return callsTool("shop/note");
      finished.push("long");
      return says("Done.");
    };
    const brief: Model = () => {
      finished.push("short");
      return says("Done.");
    };
    const agents = [clerk(long, { tools: [note], maxTurns: steps + 1 }), agent({ slug: "brief", model: brief })];
    const holdfast = await world.open(agents, { concurrency: 1, verifies: false });
    const thread = await holdfast.threads.open("long", { agent: "clerk" });
    const short = await holdfast.threads.open("short", { agent: "brief" });

    expect(await thread.send("Go on and on.")).toMatchObject({ status: "completed" });

    expect(finished).toEqual(["short", "long"]);
  });

  it("closes once the tool that is running has come to a commit, and goes on from there", async () => {
    const world = await newWorld();
    let runs = 0;
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<string>();
    const charge = tool({
      name: "shop/charge",
      description: "Charges.",
      execute: () => {
        runs++;
        begun.resolve();
        return finish.promise;
      },
    });
    const charging = () => clerk([callsTool("shop/charge"), says("Charged.")], { tools: [charge] });
    const first = await world.open(charging(), { drainMs: 60_000 });
    const { id } = await first.threads.open("t", { agent: "clerk" });
    await (await first.threads.get(id)).queueMessage("Charge.");
    await begun.promise;

    const closing = first.close().then(() => "closed");
    // It would be closed by then, if it did not wait for the tool.
    const roundTrips = async () => {
      for (let count = 0; count < 20; count++) await world.sql("select 1");
      return "open";
    };
    expect(await Promise.race([closing, roundTrips()])).toBe("open");
    finish.resolve("charged");
    await closing;

    expect(await world.sql("select phase, outcome from calls")).toEqual([{ phase: "settled", outcome: "success" }]);
    expect(await world.sql("select lease_by from threads")).toEqual([{ lease_by: null }]);
    const second = await world.open(charging());
    const thread = await second.threads.get(id);
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Charged." });
    expect(runs).toBe(1);
  });

  it("lets a process end only when all of its runtimes have come to an end", async () => {
    const world = await newWorld();
    const both = startProcess(world, import.meta.resolve("./two-runtimes.ts"), {});
    expect(await both.says()).toBe("begun");

    await both.end("SIGTERM");

    expect(await both.says()).toBe("charged");
    expect(await both.ended).toEqual({ code: null, signal: "SIGTERM" });
    expect(await world.sql("select phase, outcome from calls")).toEqual([{ phase: "settled", outcome: "success" }]);
    expect(await world.sql("select lease_by from threads")).toEqual([{ lease_by: null }]);
  });

  it("gives up what does not come to an end when it closes, and tells its signal", async () => {
    const world = await newWorld();
    const begun = Promise.withResolvers<void>();
    const fired = Promise.withResolvers<void>();
    const hanging: Model = (_messages, _context, { signal }) => {
      signal?.addEventListener("abort", () => fired.resolve());
      begun.resolve();
      return new Promise(() => undefined);
    };
    const first = await world.open(clerk(hanging), { drainMs: 20, leaseMs: 600_000 });
    const { id } = await first.threads.open("t", { agent: "clerk" });
    await (await first.threads.get(id)).queueMessage("Hello.");
    await begun.promise;

    await first.close();

    await fired.promise;
    const second = await world.open(clerk([says("Hi.")]));
    expect(await (await second.threads.get(id)).wait()).toMatchObject({ status: "completed", final_content: "Hi." });
  });

  it("runs a thread that it took without hearing of it, while it is busy with another", async () => {
    const world = await newWorld();
    let lost = 0;
    const backend: Backend = {
      ...world.backend,
      async open() {
        const driver = await world.backend.open();
        return {
          ...driver,
          async batch(statements) {
            const outcome = await driver.batch(statements);
            const isClaim = statements[0]?.sql.includes("claims = claims + 1");
            // The answer gets lost on its way, once.
            if (!isClaim || outcome.outcome !== "committed" || !outcome.rows[0]?.length || !isBusy || lost > 0)
              return outcome;
            lost++;
            return { outcome: "unknown", cause: new Error("Connection lost.") };
          },
        };
      },
    };
    let isBusy = false;
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const busy: Model = async (_messages, { thread_id }) => {
      if (thread_id === first.id) {
        isBusy = true;
        begun.resolve();
        await release.promise;
      }
      return says("Hi.");
    };
    const holdfast = await world.open(clerk(busy), { backend, leaseMs: 200, pollMs: 50 });
    const first = await holdfast.threads.open("first", { agent: "clerk" });
    const second = await holdfast.threads.open("second", { agent: "clerk" });
    const sent = first.send("Keep it busy.");
    await begun.promise;

    expect(await second.send("Hello.")).toMatchObject({ status: "completed" });

    expect(lost).toBe(1);
    release.resolve();
    expect(await sent).toMatchObject({ status: "completed" });
  });

  it("leaves threads alone whose agent it does not know", async () => {
    const world = await newWorld();
    const first = await world.open(clerk([says("Hi.")]), { runs: false });
    const { id } = await first.threads.open("t", { agent: "clerk" });
    await (await first.threads.get(id)).queueMessage("Hello.");
    await first.close();
    const stranger = await world.open(agent({ slug: "stranger", model: () => says("Hm.") }));
    const own = await stranger.threads.open("own", { agent: "stranger" });
    expect(await own.send("Hello.")).toMatchObject({ status: "completed" });
    expect(await texts(await stranger.threads.get(id))).toEqual([]);
    await stranger.close();

    const second = await world.open(clerk([says("Hi.")]));

    expect(await (await second.threads.get(id)).wait()).toMatchObject({ status: "completed" });
  });

  it("goes on whatever the callbacks of an agent do", async () => {
    const world = await newWorld();
    const raise = () => {
      throw new Error("A bug.");
    };
    const later = async () => raise();
    const odd = [undefined, null, 5, "text", [], () => undefined, Symbol("odd"), 5n];
    const note = tool({ name: "shop/note", description: "Notes.", execute: () => "noted" });
    const script = [callsTool("shop/note"), says("Done.")];
    const definitions: Partial<AgentDefinition>[] = [
      ...[raise, later, ...odd.map((value) => () => value)].map((model) => ({ model: model as Model })),
      ...[raise, later].flatMap((callback) => [
        { shouldContinue: callback },
        { completionPolicy: callback },
        { preToolMediator: callback },
        { postToolResultDiagnostics: callback },
        { toolAccessChecker: callback },
        { toolPolicyProviders: [callback] },
        { actionPolicyProviders: [callback] },
      ]),
    ];
    const agents = definitions.map((more, index) => clerk(script, { tools: [note], slug: `clerk-${index}`, ...more }));
    const holdfast = await world.open(agents);

    for (const { slug } of agents) {
      const thread = await holdfast.threads.open(slug, { agent: slug });
      const { status } = await thread.send("Hello.");
      expect(["completed", "failed", "ended"]).toContain(status);
      expect((await thread.status()).status).toBe("idle");
    }
  });

  it("goes on when even the one who is told of errors fails", async () => {
    const world = await newWorld();
    let told = 0;
    let failures = 2;
    const holdfast = await world.open(clerk([says("Hi.")]), {
      onPoint(point) {
        if (point === "before effect call_model" && failures-- > 0) throw new Error("A bug.");
      },
      onError() {
        told++;
        throw new Error("A bug in telling of a bug.");
      },
    });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Hello.")).toMatchObject({ status: "completed" });
    expect(told).toBe(2);
  });
});

function fail(status: number): never {
  throw new ProviderError(status);
}
