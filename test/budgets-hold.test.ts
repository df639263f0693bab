// Promise: no ceiling on what models cost is crossed, whoever draws on it and whoever dies meanwhile; and in the end
// everything that was set aside is either used or free again.
import { expect, it } from "vitest";
import type { Backend } from "../src/backend/sql-driver.ts";
import type { Amounts } from "../src/loop/records.ts";
import type { Model } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { type Random, randomFrom } from "../src/testing/random.ts";
import { type Agent, agent } from "../src/threads/agent.ts";
import { nanodollars } from "../src/threads/funds/limits.ts";
import { tool } from "../src/threads/tool.ts";
import { type Attempt, accountsOf, sum, versionsOf, watchBudgets } from "./budget-audit.ts";
import { eachDatabase, type World } from "./databases.ts";
import { type MortalRuntime, openMortal } from "./mortal-runtime.ts";

const CEILINGS = { tokens: 4_500, usd: 0.03 };
const LIMITS = { tokens: 1_200, usd: 0.009 };
const prices = [
  { input: 1, output: 10 },
  { input: 3, output: 4 },
];
const MOST_OUTPUT = 300;

const SUMMARY_USAGE = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
const summaryCosts = prices.map(({ input, output }) => ({
  tokens: 30,
  nanodollars: (20 * input + 10 * output) * 1_000,
}));

const turn = () => new Promise((resolve) => setImmediate(resolve));
const never = new Promise<never>(() => {});
const peek = tool({ name: "shop/peek", description: "Looks.", execute: turn });

/** What models noted down themselves. */
type Notes = {
  /** What was used for an answer, by thread and step; undefined when nothing was said. */
  readonly reports: Map<string, Amounts | undefined>;
  /** How often one was asked, by thread. */
  readonly asked: Map<unknown, number>;
};

/** A runtime's life: what its models answer after its end, nobody hears. */
type Life = { isOver: boolean };

/** Answers, with and without calls, in words that cost more or less, or fails in one way or another. */
function moody(index: number, random: Random, notes: Notes, life: Life, overReports: boolean): Model {
  const { reports, asked } = notes;
  return async (_messages, context, { step, maxOutputTokens = MOST_OUTPUT, onDelta }) => {
    asked.set(context.thread_id, (asked.get(context.thread_id) ?? 0) + 1);
    for (let times = random.below(6); times > 0; times--) await turn();
    if (life.isOver) await never;
    const mood = random.below(12);
    if (mood === 0) throw new ModelFailure("model_unavailable", "Busy.");
    if (mood === 1) throw new ModelFailure("model_refused", "No.", { status: 400 });
    if (mood === 2) {
      onDelta?.({ type: "text", text: "As I was" });
      throw new ModelFailure("model_answer_broken", "Cut off.", { hasSpoken: true });
    }
    // Without a step it is asked for a summary.
    if (step === undefined) return says("In short.", mood < 6 ? {} : { usage: SUMMARY_USAGE });
    const words = says(`Answer ${random.below(1_000)}.`);
    const answer = random.below(2) === 0 ? words : calls(words, callsTool("shop/peek", { salt: random.below(1_000) }));
    const key = `${context.thread_id}/${step}`;
    if (mood === 3) {
      reports.set(key, undefined);
      return answer;
    }
    // Fewer tokens than the tools alone are taken for, unless it is one that counts otherwise.
    const prompt_tokens = overReports && mood < 7 ? 400 + random.below(2_000) : random.below(20) + 1;
    const completion_tokens = random.below(maxOutputTokens) + 1;
    const { input, output } = prices[index] ?? { input: 0, output: 0 };
    const tokens = prompt_tokens + completion_tokens;
    reports.set(key, { tokens, nanodollars: (prompt_tokens * input + completion_tokens * output) * 1_000 });
    return { ...answer, usage: { prompt_tokens, completion_tokens, total_tokens: tokens } };
  };
}

function agentsOf(random: Random, notes: Notes, life: Life, overReports: boolean): readonly Agent[] {
  const model = prices.map((price, index) => {
    return { model: moody(index, random, notes, life, overReports), price, maxOutputTokens: MOST_OUTPUT };
  });
  const compaction = { max_messages: 8, recent_messages: 3 };
  const common = { model, tools: [peek], maxTurns: 6, retry: { backoffMs: 1 }, compaction };
  return [agent({ slug: "clerk", ...common }), agent({ slug: "saver", ...common, limits: LIMITS })];
}

const shared = [0, 1, 2, 3].map((index) => ({ key: `shared ${index}`, agent: index < 3 ? "clerk" : "saver" }));
const alone = [0, 1].map((index) => ({ key: `alone ${index}`, agent: "saver" }));

/** Where a runtime is to die: at any point, or around a call to a model. */
function fateOf(random: Random): (point: string) => boolean {
  const isAimed = random.below(2) === 0;
  let left = random.below(isAimed ? 6 : 60);
  return (point) => (isAimed ? /(begun|effect) call_model$/.test(point) : true) && left-- === 0;
}

async function openThreads({ threads }: MortalRuntime) {
  const opened = shared.map(({ key, agent }) => threads.open(key, { agent, budget: "team" }));
  return await Promise.all([...opened, ...alone.map(({ key, agent }) => threads.open(key, { agent }))]);
}

/** Sends everything that was sent before once more, and stops a thread now and then, until all rest or one runtime dies. */
async function disturb(runtimes: readonly MortalRuntime[], random: Random, round: number): Promise<void> {
  const [first] = runtimes;
  if (!first) return;
  const threads = await openThreads(first);
  const wishes = threads.flatMap((thread, index) => [
    ...Array.from({ length: round + 1 }, (_, number) => thread.send(`message ${number}`, { key: `message ${number}` })),
    ...(random.below(6) === 0 ? [thread.stop({ key: `stop ${index} ${round}` })] : []),
  ]);
  await Promise.allSettled(wishes);
}

async function play(world: World, database: Backend["name"], seed: number, overReports: boolean) {
  const random = randomFrom(seed);
  const notes: Notes = { reports: new Map(), asked: new Map() };
  const open = async (fate?: (point: string) => boolean) => {
    const life: Life = { isOver: false };
    const runtime = await openMortal(world, agentsOf(random, notes, life, overReports), fate);
    void runtime.died.then(() => {
      life.isOver = true;
    });
    return runtime;
  };
  const before = await open();
  await watchBudgets(world, database);
  await before.budgets.set("team", CEILINGS);
  await before.close();

  for (let round = 0; round < 5; round++) {
    const runtimes = [await open(fateOf(random))];
    if (database === "postgres") runtimes.push(await open(fateOf(random)));
    await Promise.race([...runtimes.map(({ died }) => died), disturb(runtimes, random, round)]);
    for (const runtime of runtimes) await runtime.die();
  }

  // Who died with a thread three times is not its fault: somebody has had a look at it.
  await world.sql("update threads set claims = 0 returning 1");
  const last = await open();
  const threads = await openThreads(last);
  for (const { id } of threads) await last.threads.retry(id).catch(() => {});
  await Promise.all(threads.map((thread) => thread.send("That is all.")));
  await Promise.all(threads.map((thread) => thread.wait()));
  const stores = await world.stores();
  const accounts = await Promise.all(threads.map(async ({ id }) => ({ id, runs: await accountsOf(stores, id) })));
  return { accounts, notes, versions: await versionsOf(world, "team") };
}

type Played = Awaited<ReturnType<typeof play>>;

const excess = ({ spent, reserved }: Attempt): Amounts => ({
  tokens: Math.max(0, spent.tokens - reserved.tokens),
  nanodollars: Math.max(0, spent.nanodollars - reserved.nanodollars),
});

/** Every attempt has come to an end, and is counted as what the model said, or as all or nothing of what was set aside. */
function expectAccounted({ accounts, notes: { reports, asked } }: Played): void {
  for (const { id, runs } of accounts) {
    // Who was asked was paid for, also when that was the last thing that its process did.
    expect(asked.get(id) ?? 0).toBeLessThanOrEqual(runs.flatMap(({ attempts }) => attempts).length);
    let step = 0;
    for (const { state, attempts } of runs) {
      expect(state).toMatchObject({ position: "ended", reserved: null, in_flight: null });
      expect(sum(attempts.map(({ spent }) => spent))).toEqual(state.spent);
      for (const { reserved, end, spent } of attempts) {
        if (end === "model.responded") expect(spent).toEqual(reports.get(`${id}/${step++}`) ?? reserved);
        else if (end === "attempt.lost") expect(spent).toEqual(reserved);
        else if (end === "compacted") expect([reserved, ...summaryCosts]).toContainEqual(spent);
        else expect([{ tokens: 0, nanodollars: 0 }, reserved]).toContainEqual(spent);
      }
    }
  }
}

/** Nothing is set aside that is not there, at any commit; without models that count otherwise nothing is ever crossed. */
function expectWithin({ versions, accounts }: Played): void {
  const [first] = versions;
  expect(first).toBeDefined();
  const over = sum(accounts.flatMap(({ runs }) => runs.flatMap(({ attempts }) => attempts.map(excess))));
  for (const [index, { used, reserved, ceiling }] of versions.entries()) {
    const before = versions[index - 1];
    for (const of of ["tokens", "nanodollars"] as const) {
      expect(reserved[of]).toBeGreaterThanOrEqual(0);
      expect(used[of]).toBeGreaterThanOrEqual(before?.used[of] ?? 0);
      const hasReserved = reserved[of] > (before?.reserved[of] ?? 0);
      expect(used[of] + reserved[of]).toBeLessThanOrEqual(ceiling[of] + (hasReserved ? 0 : over[of]));
    }
  }
}

/** The limits of a run's own hold likewise. */
function expectLimited({ accounts }: Played): void {
  const most = { tokens: LIMITS.tokens, nanodollars: nanodollars(LIMITS.usd) };
  for (const { runs } of accounts.slice(3)) {
    for (const { attempts } of runs) {
      for (const [index, { reserved }] of attempts.entries()) {
        const spent = sum(attempts.slice(0, index).map((attempt) => attempt.spent));
        expect(spent.tokens + reserved.tokens).toBeLessThanOrEqual(most.tokens);
        expect(spent.nanodollars + reserved.nanodollars).toBeLessThanOrEqual(most.nanodollars);
      }
    }
  }
}

eachDatabase((newWorld, database) => {
  // On a file a seed takes a blink of an eye; where processes have to be found dead it takes seconds.
  const seeds = database === "sqlite" ? [1, 2, 3, 4, 5, 6] : [1, 2];

  it.each(seeds.flatMap((seed) => [[seed, "honest"] as const, [seed, "not honest"] as const]))(
    "hold while workers die and threads are stopped: seed %i, with models whose count is %s",
    async (seed, honesty) => {
      const world = await newWorld();

      const played = await play(world, database, seed, honesty !== "honest");

      expectAccounted(played);
      expectWithin(played);
      expectLimited(played);
      const drawn = played.accounts.slice(0, shared.length).flatMap(({ runs }) => runs.map(({ state }) => state.spent));
      const { used, reserved } = played.versions.at(-1) ?? {};
      expect(reserved).toEqual({ tokens: 0, nanodollars: 0 });
      expect(used).toEqual(sum(drawn));
    },
  );
});
