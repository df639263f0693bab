// Promise: a tool call happens once. That it begins is written down before it begins, and what a crash leaves open is
// asked about, run again under the same key, or told to be unknown, but never done twice in silence.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { text as canonicalText, sha256, sortedText, stableHash } from "../src/contracts/canonical-json.ts";
import type { Message } from "../src/contracts/conversation/message.ts";
import * as identicalFailure from "../src/contracts/tools/identical-failure.ts";
import * as spin from "../src/contracts/tools/spin.ts";
import { unpackRecords } from "../src/loop/packed-records.ts";
import {
  calls,
  callsTool,
  type ScriptedAnswer,
  type ScriptedStep,
  says,
  scriptedModel,
} from "../src/models/scripted/scripted-model.ts";
import { type Agent, agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { type Reconciled, type Tool, type ToolContext, type ToolDefinition, tool } from "../src/threads/tool.ts";
import { startProcess } from "./another-process.ts";
import { withDriver } from "./changed-driver.ts";
import { cutOffAgents, type Effect, kinds, readEffects, TIMEOUT_MS } from "./cut-off-tools.ts";
import { type Address, eachDatabase, type World } from "./databases.ts";
import { script as dyingScript } from "./dying-tool.ts";
import { heldTool } from "./held.ts";
import { timeUpDuring } from "./time-up.ts";

/** An agent that follows a script, with these tools. */
function clerk(script: readonly ScriptedStep[], ...tools: readonly Tool[]): Agent {
  return agent({ slug: "clerk", model: scriptedModel(script), tools });
}

/** A tool `shop/charge` that does this. */
function charge(execute: ToolDefinition["execute"], more: Partial<ToolDefinition> = {}): Tool {
  return tool({ name: "shop/charge", description: "Charges.", ...(execute && { execute }), ...more });
}

const charges = (parameters = {}) => callsTool("shop/charge", parameters);

/** The results of a thread's calls, in order, as they are stored. */
async function results(thread: ThreadHandle) {
  const messages = await thread.messages();
  return messages.flatMap(({ message }) => (message.type === "tool_result" ? [message.payload] : []));
}

const errorType = (result: object | undefined) =>
  (result as { metadata?: { error_type?: string } }).metadata?.error_type;

eachDatabase((newWorld, database) => {
  it("is in the ledger as begun before the tool runs, and as settled after", async () => {
    const world = await newWorld();
    let during: unknown;
    const look = charge(async () => {
      during = await world.sql("select phase, outcome from calls");
      return "charged";
    });
    const holdfast = await world.open(clerk([charges(), says("Done.")], look));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await thread.send("Charge.");

    expect(during).toEqual([{ phase: "begun", outcome: null }]);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success", tool_name: "shop/charge" }]);
  });

  it("has a key of its own for every call of every run and every fork, which the ledger knows", async () => {
    const world = await newWorld();
    const keys: string[] = [];
    const note = charge((_input, { idempotencyKey }) => keys.push(idempotencyKey));
    const twice = calls(charges(), charges());
    const holdfast = await world.open(clerk([twice, says("1"), twice, says("2")], note));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("one");
    const fork = await thread.fork("f");
    await thread.send("two");
    await fork.send("two");

    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(6);
    const stored = [...(await thread.calls()), ...(await fork.calls())];
    expect(stored.map(({ idempotency_key }) => idempotency_key)).toEqual(keys);
  });

  it("is asked about, run again or told to be unknown after its process was killed", async () => {
    const world = await newWorld();
    const folder = mkdtempSync(join(tmpdir(), "holdfast-effects-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const effects = join(folder, "effects");
    const { ended } = startProcess(world, import.meta.resolve("./cut-off-tools.ts"), { effects });
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    expect(readEffects(effects)).toMatchObject(kinds.map((kind) => ({ did: "ran", kind })));
    const [absent] = await world.sql("select certain_at from calls where tool_call_id = 'call-absent'");

    const holdfast = await world.open(cutOffAgents({ effects }), { leaseMs: TIMEOUT_MS });
    const threads = new Map<string, ThreadHandle>();
    for (const kind of kinds) {
      const thread = await holdfast.threads.open(kind, { agent: kind });
      expect(await thread.wait()).toMatchObject({ status: "completed" });
      threads.set(kind, thread);
    }
    const told = Object.fromEntries(
      await Promise.all([...threads].map(async ([kind, thread]) => [kind, await results(thread)])),
    );
    const unknown = [{ success: false, metadata: { error_type: "outcome_unknown" } }];
    const ranAgain = [{ success: true, result: { charged: "now" } }];
    expect(told).toMatchObject({
      nothing: unknown,
      idempotent: ranAgain,
      done: [{ success: true, result: { charged: "before" } }],
      unsure: unknown,
      throws: unknown,
      nonsense: unknown,
      absent: ranAgain,
    });

    const happened = readEffects(effects);
    const histories = kinds.map((kind) => happened.filter((effect) => effect.kind === kind));
    const did = (of: readonly Effect[]) => of.map(({ did: each }) => each).join(", ");
    expect(Object.fromEntries(histories.map((history, index) => [kinds[index], did(history)]))).toEqual({
      nothing: "ran",
      idempotent: "ran, ran",
      done: "ran, was asked",
      unsure: "ran, was asked",
      throws: "ran, was asked",
      nonsense: "ran, was asked",
      absent: expect.stringMatching(database === "postgres" ? /^ran(, was asked){1,2}, ran$/ : /^ran, was asked, ran$/),
    });
    for (const history of histories) expect(new Set(history.map(({ key }) => key)).size).toBe(1);

    // Elsewhere the one who began it might still have been at work: an answer that came too early is asked for once more.
    const again = histories.at(-1)?.at(-1)?.at ?? 0;
    if (database === "postgres") expect((again + 1) * 1000).toBeGreaterThanOrEqual(Number(absent?.certain_at));

    // What was queued by a call that nobody saw the end of is not there; the one that ran again queued it once.
    for (const [kind, thread] of threads) {
      const texts = (await thread.messages()).map(({ message }) => message.content);
      const ranToItsEnd = kind === "idempotent" || kind === "absent";
      expect(texts.filter((text) => text === `${kind} was charged`)).toHaveLength(ranToItsEnd ? 1 : 0);
    }
    const open = await holdfast.calls.unknown();
    expect(open.map(({ tool_call_id }) => tool_call_id).sort()).toEqual(
      ["nothing", "unsure", "throws", "nonsense"].map((kind) => `call-${kind}`).sort(),
    );
  });

  it("is waited for by the runtime that the same process opens after it has closed the first", async () => {
    const world = await newWorld();
    let asked = 0;
    const absent = () => {
      asked++;
      return { status: "absent" } as const;
    };
    const { tool: held, next: charging, count } = heldTool({ name: "shop/charge", reconcile: absent });
    const charger = () => clerk([charges(), says("Done.")], held);
    const first = await world.open(charger(), { drainMs: 10 });
    const { id } = await first.threads.open("t", { agent: "clerk" });
    const stopped = await first.threads.open("stopped", { agent: "clerk" });
    await (await first.threads.get(id)).queueMessage("Charge.");
    const call = await charging();
    await stopped.queueMessage("Charge.");
    const other = await charging();
    await first.close();

    const isTaken = Promise.withResolvers<void>();
    const backend = withDriver(world.backend, ({ all }) => ({
      async all(sql, params) {
        const rows = await all(sql, params);
        // The last that is read of a thread before it is gone on with.
        if (sql.includes("from inbox") && params?.includes(id)) setImmediate(isTaken.resolve);
        return rows;
      },
    }));
    const second = await world.open(charger(), { backend });
    await isTaken.promise;
    const thread = await second.threads.get(id);
    expect(await thread.calls()).toMatchObject([{ phase: "begun" }]);
    call.context.queueMessage("and tell the customer");
    call.answer("charged");

    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(await results(thread)).toMatchObject([{ success: true, result: "charged" }]);
    expect((await thread.messages()).map(({ message }) => message.content)).toContain("and tell the customer");
    // Whoever does not want to wait for it may stop.
    const there = await second.threads.get(stopped.id);
    expect((await there.stop()).status).toBe("stopped");
    expect(errorType((await results(there))[0])).toBe("outcome_unknown");
    other.answer("too late");
    expect({ asked, begunAgain: count() }).toEqual({ asked: 0, begunAgain: 0 });
  });

  it("is asked about again when its runtime was closed before the answer came", async () => {
    const world = await newWorld();
    await cutOff(world, "clerk");
    const reconciled: string[] = [];
    const asked = Promise.withResolvers<void>();
    const hangs = ({ signal }: { signal: AbortSignal }) => {
      asked.resolve();
      return new Promise<Reconciled>((_, reject) =>
        signal.addEventListener("abort", () => {
          reconciled.push("cut off");
          reject(new Error("Aborted."));
        }),
      );
    };
    const answers = () => {
      reconciled.push("done");
      return { status: "done", result: { charged: "before" } } as const;
    };
    const charged = (reconcile: ToolDefinition["reconcile"]) =>
      clerk(
        dyingScript,
        charge(() => "again", { ...(reconcile && { reconcile }) }),
      );

    const first = await world.open(charged(hangs), { drainMs: 10 });
    await asked.promise;
    await first.close();
    expect(await world.sql("select phase from calls")).toEqual([{ phase: "begun" }]);

    const second = await world.open(charged(answers));
    const thread = await second.threads.open("clerk", { agent: "clerk" });
    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(await results(thread)).toMatchObject([{ success: true, result: { charged: "before" } }]);
    expect(reconciled).toEqual(["cut off", "done"]);
  });

  it("is of unknown outcome when whoever is asked about it never answers, and holds up nobody", async () => {
    const world = await newWorld();
    const slugs = ["stopped", "late", "hanging"];
    await cutOff(world, ...slugs);
    const asked = Object.fromEntries(slugs.map((slug) => [slug, Promise.withResolvers<AbortSignal>()]));
    const agents = slugs.map((slug) => {
      const never: ToolDefinition["reconcile"] = ({ signal }) => {
        asked[slug]?.resolve(signal);
        return new Promise(() => undefined);
      };
      const times = slug === "late" ? { timeoutMs: 50 } : {};
      const tools = [charge(() => "again", { reconcile: never, ...times })];
      return agent({ slug, model: scriptedModel(dyingScript), tools });
    });
    const holdfast = await world.open(agents, { drainMs: 10 });
    const open = (slug: string) => holdfast.threads.open(slug, { agent: slug });
    const unknown = "outcome_unknown";

    const late = await open("late");
    expect(await late.wait()).toMatchObject({ status: "completed" });
    expect(errorType((await results(late))[0])).toBe(unknown);

    const stopped = await open("stopped");
    const signal = await asked.stopped?.promise;
    expect((await stopped.stop()).status).toBe("stopped");
    expect(signal?.aborted).toBe(true);
    expect(errorType((await results(stopped))[0])).toBe(unknown);

    await asked.hanging?.promise;
    await holdfast.close();
    expect(await world.sql("select phase, outcome from calls order by phase")).toEqual([
      { phase: "begun", outcome: null },
      { phase: "unknown", outcome: unknown },
      { phase: "unknown", outcome: unknown },
    ]);
  });

  it("shows what an operator has found out in place of what was unknown, once and for good", async () => {
    const world = await newWorld();
    const shown: Message[][] = [];
    const begun = Promise.withResolvers<void>();
    const hang = charge(() => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    const answers = [says("So it was."), says("Still so.")].map(
      (answer): ScriptedStep =>
        (messages) => {
          shown.push([...messages]);
          return answer;
        },
    );
    const holdfast = await world.open(clerk([charges(), ...answers], hang));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const other = await holdfast.threads.open("other", { agent: "clerk" });
    await thread.queueMessage("Charge.");
    await begun.promise;
    await thread.stop();
    const [call] = await holdfast.calls.unknown();
    if (!call) throw new Error("No call is of unknown outcome.");
    expect(call).toMatchObject({ thread_id: thread.id, tool_name: "shop/charge", phase: "unknown" });
    const refused = { code: "call_not_unknown" };
    await expect(holdfast.calls.settle({ ...call, thread_id: other.id }, 1)).rejects.toMatchObject(refused);
    await expect(holdfast.calls.settle({ ...call, number: 7 }, 1)).rejects.toMatchObject(refused);

    const found = [{ charged: 5 }, { charged: 6 }].map((result) => holdfast.calls.settle(call, result));
    const settled = await Promise.allSettled(found);

    // Whichever came first stands.
    const first = settled.findIndex(({ status }) => status === "fulfilled");
    expect(settled[1 - first]).toMatchObject({ status: "rejected", reason: refused });
    await thread.send("What happened?");
    expect(resultsIn(shown[0])).toMatchObject([{ success: true, result: { charged: 5 + first } }]);
    expect(await holdfast.calls.unknown()).toEqual([]);
    await expect(holdfast.calls.settle(call, { charged: 5 })).rejects.toMatchObject(refused);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "settled_by_operator" }]);
    await thread.send("And now?");
    expect(resultsIn(shown[1])).toMatchObject([{ success: true, result: { charged: 5 + first } }]);
  });

  it("takes anything that an operator says of a call, as long as it is JSON", async () => {
    const world = await newWorld();
    const hang = (begun: () => void) =>
      charge(() => {
        begun();
        return new Promise(() => undefined);
      });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const said = [
      [undefined, { success: true }],
      [null, { success: true }],
      ["found", { success: true, result: "found" }],
      [{ error: "It was refused." }, { success: false, error: "It was refused." }],
      [{ success: false }, { success: false }],
      [{ result: { cents: 5 } }, { success: true, result: { cents: 5 } }],
    ] as const;
    let begun = Promise.withResolvers<void>();
    const holdfast = await world.open(
      clerk(
        said.map(() => charges()),
        hang(() => begun.resolve()),
      ),
    );
    for (const [index, [result, told]] of said.entries()) {
      begun = Promise.withResolvers();
      const thread = await holdfast.threads.open(`t${index}`, { agent: "clerk" });
      await thread.queueMessage("Charge.");
      await begun.promise;
      await thread.stop();
      const [call] = await holdfast.calls.unknown();
      if (!call) throw new Error("No call is of unknown outcome.");
      await expect(holdfast.calls.settle(call, cycle)).rejects.toMatchObject({ code: expect.any(String) });

      await holdfast.calls.settle(call, result);

      await thread.wait();
      expect(await results(thread)).toMatchObject([told]);
    }
  });

  it("is given up when its time is over, and told so through its signal", async () => {
    const world = await newWorld();
    const fired = Promise.withResolvers<void>();
    const slow = charge(
      (_input, { signal }) => {
        signal.addEventListener("abort", () => fired.resolve());
        return new Promise(() => undefined);
      },
      { timeoutMs: 30, retry: { attempts: 3, backoffMs: 1 } },
    );
    const holdfast = await world.open(clerk([charges(), says("Done.")], slow));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Charge.")).toMatchObject({ status: "completed" });

    await fired.promise;
    expect(await results(thread)).toMatchObject([{ success: false, metadata: { error_type: "timeout" } }]);
    expect(await thread.calls()).toMatchObject([{ phase: "unknown", outcome: "timeout" }]);
    // What it did nobody knows before somebody has looked.
    const [call] = await holdfast.calls.unknown();
    if (!call) throw new Error("No call is of unknown outcome.");
    await holdfast.calls.settle(call, { charged: 5 });
    await thread.wait();
    expect(await results(thread)).toMatchObject([{ success: true, result: { charged: 5 } }]);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "settled_by_operator" }]);
  });

  it("is asked about once when its time is over, and says that it took too long unless it was done", async () => {
    const world = await newWorld();
    const answers: Readonly<Record<string, () => unknown>> = {
      done: () => ({ status: "done", result: { charged: 5 } }),
      nothing: () => ({ status: "done" }),
      // Its code may still be at work here, and must not run beside itself.
      absent: () => ({ status: "absent" }),
      unsure: () => ({ status: "unknown" }),
      nonsense: () => 5,
      throws: () => Promise.reject(new Error("No.")),
      hangs: () => new Promise(() => undefined),
    };
    const names = Object.keys(answers);
    const keys: Record<"ran" | "asked", string[]> = { ran: [], asked: [] };
    const tools = names.map((name) =>
      charge(
        (_input, { idempotencyKey }) => {
          keys.ran.push(idempotencyKey);
          return new Promise(() => undefined);
        },
        {
          ...{ name: `shop/${name}`, timeoutMs: 30, retry: { attempts: 3, backoffMs: 1 }, idempotent: true },
          reconcile: ({ idempotencyKey }) => {
            keys.asked.push(idempotencyKey);
            return answers[name]?.() as Reconciled;
          },
        },
      ),
    );
    const script = [calls(...names.map((name) => callsTool(`shop/${name}`))), says("All done.")];
    const holdfast = await world.open(clerk(script, ...tools));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Charge.")).toMatchObject({ status: "completed" });

    expect(new Set(keys.ran).size).toBe(names.length);
    expect(keys.asked).toEqual(keys.ran);
    const late = names.slice(2);
    expect(await results(thread)).toMatchObject([
      { success: true, result: { charged: 5 } },
      { success: true },
      ...late.map(() => ({ success: false, metadata: { error_type: "timeout" } })),
    ]);
    expect((await thread.calls()).map(({ phase, outcome }) => `${phase} ${outcome}`)).toEqual([
      "settled success",
      "settled success",
      ...late.map(() => "unknown timeout"),
    ]);
    expect((await holdfast.calls.unknown()).map(({ tool_name }) => tool_name).sort()).toEqual(
      late.map((name) => `shop/${name}`).sort(),
    );
  });

  it("may be stopped while it is asked about, and is asked about again when its runtime was closed meanwhile", async () => {
    const world = await newWorld();
    const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let askings = 0;
    const hangs = ({ signal }: { signal: AbortSignal }) => {
      asked[askings++]?.resolve();
      return new Promise<Reconciled>((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("Aborted."))),
      );
    };
    let runs = 0;
    // The time of the run is what is over: whoever is asked then has as long as the tool.
    const hurried = (reconcile: NonNullable<ToolDefinition["reconcile"]>) => {
      const execute = () => {
        runs++;
        return new Promise(() => undefined);
      };
      const tools = [charge(execute, { reconcile })];
      return agent({ slug: "clerk", model: scriptedModel([charges(), says("Done.")]), tools, limits: { seconds: 60 } });
    };
    const times = timeUpDuring("run_tool", world);
    const first = await world.open(hurried(hangs), { ...times, drainMs: 10 });
    const stopped = await first.threads.open("stopped", { agent: "clerk" });
    await stopped.queueMessage("Charge.");
    await asked[0]?.promise;

    expect((await stopped.stop()).status).toBe("stopped");

    expect((await results(stopped)).map(errorType)).toEqual(["outcome_unknown"]);
    expect(await stopped.calls()).toMatchObject([{ phase: "unknown" }]);
    const closed = await first.threads.open("closed", { agent: "clerk" });
    await closed.queueMessage("Charge.");
    await asked[1]?.promise;
    await first.close();
    expect(await world.sql("select phase from calls order by phase")).toEqual([
      { phase: "begun" },
      { phase: "unknown" },
    ]);

    const second = await world.open(
      hurried(() => ({ status: "done", result: { charged: 5 } })),
      times,
    );
    const thread = await second.threads.get(closed.id);
    expect(await thread.wait()).toMatchObject({ status: "budget_exceeded" });
    expect(await results(thread)).toMatchObject([{ success: true, result: { charged: 5 } }]);
    expect(runs).toBe(2);
  });

  it("is tried as often as it says, under one key, and forgets what a failing attempt has queued", async () => {
    const world = await newWorld();
    const attempts: Pick<ToolContext, "attempt" | "idempotencyKey">[] = [];
    const flaky =
      (failures: number) =>
      (_input: unknown, { attempt, idempotencyKey, queueMessage }: ToolContext) => {
        attempts.push({ attempt, idempotencyKey });
        queueMessage(`attempt ${attempt}`);
        if (attempt <= failures) throw new Error(`failed ${attempt}`);
        return "charged";
      };
    const retry = { attempts: 3, backoffMs: 1 };
    const once = charge(flaky(2), { retry });
    const never = charge(flaky(9), { name: "shop/never", retry });
    const script = [charges(), says("Done."), callsTool("shop/never"), says("Never.")];
    const holdfast = await world.open(clerk(script, once, never));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await thread.send("Charge.");
    await thread.send("Never.");

    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3]);
    expect(new Set(attempts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    const [charged, failed] = await results(thread);
    expect(charged).toMatchObject({ success: true, result: "charged" });
    expect(failed).toMatchObject({ success: false, error: "failed 3" });
    const queued = (await thread.messages()).filter(({ message }) => String(message.content).startsWith("attempt"));
    expect(queued.map(({ message }) => message.content)).toEqual(["attempt 3"]);
  });

  it("counts as given up only when all of its attempts must be over", async () => {
    const world = await newWorld();
    const patient = charge(() => "charged", { timeoutMs: 60_000, retry: { attempts: 3, backoffMs: 1_000 } });
    const holdfast = await world.open(clerk([charges(), says("Done.")], patient));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Charge.");

    const [call] = await thread.calls();

    const longest = (3 * 60_000 + 1_000 + 2_000) * 1_000;
    expect((call?.certain_at ?? 0) - (call?.begun_at ?? 0)).toBeGreaterThanOrEqual(longest);
  });

  it("queues messages and tools together with its outcome", async () => {
    const world = await newWorld();
    const during: unknown[] = [];
    const queues = charge(async (_input, { queueMessage, queueTool }) => {
      queueMessage("and tell the customer");
      queueMessage({ role: "system", content: "quietly" }, { silent: true });
      queueTool("shop/ship", { order: 7 });
      during.push(await world.sql("select seq from inbox where drained_at is null"));
      return "charged";
    });
    const ship = charge((input) => ({ shipped: input }), { name: "shop/ship" });
    const holdfast = await world.open(clerk([charges(), says("Told."), says("Shipped.")], queues, ship));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await thread.send("Charge.");
    await thread.wait();

    expect(during).toEqual([[]]);
    const texts = (await thread.messages()).map(({ message }) => message.content);
    expect(texts.filter((text) => text === "and tell the customer" || text === "quietly")).toHaveLength(2);
    expect((await results(thread)).map((result) => (result as { result?: unknown }).result)).toEqual([
      "charged",
      { shipped: { order: 7 } },
    ]);
  });

  it("does not run with parameters that its schema refuses, and says what is wrong with each", async () => {
    const world = await newWorld();
    let runs = 0;
    const inputSchema = z.object({ order: z.string(), cents: z.int(), lines: z.array(z.object({ pieces: z.int() })) });
    const strict = tool({ name: "shop/charge", description: "Charges.", inputSchema, execute: () => ++runs });
    const wrong = charges({ order: 7, cents: 1.5, lines: [{ pieces: 1 }, { pieces: "two" }] });
    const holdfast = await world.open(clerk([calls(wrong, charges({ order: "7" })), says("Oh.")], strict));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await thread.send("Charge.");

    const [refused, missing] = await results(thread);
    expect(errorType(refused)).toBe("invalid_parameters");
    for (const path of ["order", "cents", "lines[1].pieces"])
      expect(refused).toMatchObject({ error: expect.stringContaining(path) });
    for (const path of ["cents", "lines"])
      expect(missing).toMatchObject({ success: false, error: expect.stringContaining(path) });
    expect(runs).toBe(0);
  });

  it("has run when what it returns does not fit, and the model is told so", async () => {
    const world = await newWorld();
    const outputSchema = z.object({ charged: z.int() });
    const vague = charge(() => ({ charged: "some" }), { outputSchema });
    const exact = charge(() => ({ charged: 5 }), { name: "shop/exact", outputSchema });
    const holdfast = await world.open(clerk([calls(charges(), callsTool("shop/exact")), says("Done.")], vague, exact));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    await thread.send("Charge.");

    expect(await results(thread)).toMatchObject([
      { success: false, error: expect.stringContaining("charged"), metadata: { error_type: "invalid_result" } },
      { success: true, result: { charged: 5 } },
    ]);
  });

  it("comes to one result whatever it throws or returns", async () => {
    const world = await newWorld();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const raise = (thrown: unknown) => () => {
      throw thrown;
    };
    const does: Readonly<Record<string, () => unknown>> = {
      error: raise(new Error("No.")),
      text: raise("No."),
      nothing: raise(undefined),
      rejects: () => Promise.reject(new Error("No.")),
      cycle: () => cycle,
      getter: () => ({
        get charged() {
          throw new Error("No.");
        },
      }),
      bigint: () => 5n,
      symbol: () => Symbol("five"),
      function: () => () => 5,
      undefined: () => undefined,
      infinity: () => Number.POSITIVE_INFINITY,
      date: () => new Date(0),
      map: () => new Map([["charged", 5]]),
      surrogate: () => "half \ud800",
      nul: () => "with \0 in it",
      large: () => "x".repeat(1_000_000),
      fake: () => ({ success: true, tool_name: "", metadata: 5 }),
      pretends: () => ({ success: false, error: "", metadata: { error_type: "cancelled" } }),
    };
    const names = Object.keys(does);
    const tools = names.map((name) => charge(() => does[name]?.(), { name: `shop/${name}` }));
    const script = [calls(...names.map((name) => callsTool(`shop/${name}`))), says("All done.")];
    const holdfast = await world.open(clerk(script, ...tools));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send("Try them all.")).toMatchObject({ status: "completed", final_content: "All done." });

    expect(await results(thread)).toHaveLength(names.length);
    expect((await thread.calls()).map(({ phase }) => phase)).toEqual(names.map(() => "settled"));
  });

  it("leaves no hash from which somebody without the key could find its secret parameters by trying", async () => {
    const world = await newWorld();
    const secret = { to: "bob", pin: "4711" };
    const name = "shop/charge";
    const declined = { success: false, error: "Declined.", metadata: { error_type: "declined" } };
    const fails = charge(() => declined, { sensitive: ["pin"] });
    const asks = charge(() => "charged", { name: "shop/ask", sensitive: ["pin"], actionPolicy: "preview" });
    const clerkThatCounts = agent({
      slug: "clerk",
      tools: [fails, asks],
      spinDetector: {},
      identicalFailureTracker: {},
      model: scriptedModel([
        calls(charges(secret), charges(secret)),
        callsTool("shop/ask", secret, { id: "call-2" }),
        says("Done."),
      ]),
    });
    const holdfast = await world.open(clerkThatCounts);
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const { waiting_for } = await thread.send("Charge.");
    const beforeTheAnswer = await world.everything();
    const { events } = await thread.export();
    await thread.queueTool(name, secret);
    await holdfast.requests.submit(waiting_for?.request_id ?? "", { decision: "rejected" });
    await thread.wait();

    const facts = events.flatMap(({ records }) => unpackRecords(records)).map(({ fact }) => fact);
    const key = facts.flatMap((fact) => (fact.type === "flow.started" ? [fact.key] : []))[0] ?? "";
    const [opened, , proposed] = facts.flatMap((fact) => (fact.type === "call.opened" ? [fact] : []));
    // What is counted is there, under hashes of another kind.
    expect(JSON.stringify(opened?.spin)).toMatch(/[0-9a-f]{64}"/);
    const [failure] = facts.flatMap((fact) => (fact.type === "call.settled" && fact.failures ? [fact.failures] : []));
    expect(JSON.stringify(failure)).toMatch(/[0-9a-f]{64}"/);
    const action = [key, proposed?.call ?? -1, "call-2", "shop/ask", sortedText(secret)];
    const guesses = {
      spin: spin.identity(name, secret).parameters_hash,
      failure: identicalFailure.signature(name, secret, declined).signature_hash,
      action: sha256(canonicalText(action)).slice(0, 32),
      queued: stableHash({ name, parameters: secret }),
      text: sha256(JSON.stringify(secret)),
      pin: sha256(secret.pin),
    };
    const stored = beforeTheAnswer + (await world.everything()) + JSON.stringify(await thread.export());
    expect(Object.entries(guesses).filter(([, guess]) => stored.includes(guess))).toEqual([]);
  });

  it("keeps its secret parameters sealed while it waits, and erases them when it is settled", async () => {
    const world = await newWorld();
    const card = "4111-1111-1111-1111";
    const everywhere = async () => (await world.everything()) + (await rawBytes(world.address));
    const meanwhile: string[] = [];
    const got: unknown[] = [];
    const pay = tool({
      name: "shop/charge",
      description: "Charges.",
      sensitive: ["card"],
      actionPolicy: "preview",
      execute: (input) => got.push(input),
    });
    const look = tool({
      name: "shop/look",
      description: "Looks.",
      sensitive: ["card"],
      execute: async () => void meanwhile.push(await everywhere()),
    });
    const ask = tool({ name: "client/pay", description: "Pays.", sensitive: ["card"] });
    const looks =
      (answer: ScriptedAnswer): ScriptedStep =>
      async () => {
        meanwhile.push(await everywhere());
        return answer;
      };
    const script = [
      calls(callsTool("shop/look", { card }), charges({ card, cents: 5 })),
      looks(callsTool("client/pay", { card })),
      looks(says("Done.")),
      looks(says("Queued.")),
    ];
    const holdfast = await world.open(clerk(script, look, pay, ask));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    const { waiting_for: approval } = await thread.send("Charge my card.");
    expect(await everywhere()).not.toContain(card);
    expect(await holdfast.requests.open(approval?.request_id ?? "")).toMatchObject({
      apply_input: { parameters: { card } },
    });
    await holdfast.requests.submit(approval?.request_id ?? "", { decision: "accepted" });
    const waiting = await thread.wait();
    expect(got).toEqual([{ card, cents: 5 }]);
    expect(await everywhere()).not.toContain(card);
    await holdfast.requests.submit(waiting?.waiting_for?.request_id ?? "", { result: "paid" });
    expect(await thread.wait()).toMatchObject({ status: "completed" });
    await thread.queueTool("shop/charge", { card });
    const last = await thread.wait();
    expect(await everywhere()).not.toContain(card);
    await holdfast.requests.submit(last?.waiting_for?.request_id ?? "", { decision: "rejected" });
    expect(await thread.wait()).toMatchObject({ final_content: "Queued." });

    expect(meanwhile).toHaveLength(4);
    for (const stored of meanwhile) expect(stored).not.toContain(card);
    expect(await world.sql("select sealed from requests where status <> 'pending'")).toEqual([
      { sealed: null },
      { sealed: null },
      { sealed: null },
    ]);
    expect(await world.sql("select working from threads")).toEqual([{ working: null }]);
    expect(await world.sql("select * from answers")).toEqual([]);
    expect(await everywhere()).not.toContain(card);
  });
});

/** Has a process begin the call of each of these agents, and die in it. */
async function cutOff(world: World, ...slugs: readonly string[]): Promise<void> {
  const { ended } = startProcess(world, import.meta.resolve("./dying-tool.ts"), { slugs });
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
}

/** The results that a model was shown. */
function resultsIn(messages: readonly Message[] | undefined) {
  return (messages ?? []).flatMap(({ type, payload }) => (type === "tool_result" ? [payload] : []));
}

/** What stands in the files of a database that has files of its own. */
async function rawBytes(address: Address): Promise<string> {
  if (!("path" in address)) return "";
  const files = ["", "-wal"].map((suffix) => `${address.path}${suffix}`).filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, "latin1")).join("");
}
