// The commands of the test: one action at a time, several at once, with a process that dies, and deployments.
import fc from "fast-check";
import { HoldfastError } from "../../src/contracts/error.ts";
import { type Action, type Prepared, prepare, type Words } from "./actions.ts";
import type { Brought, Edit } from "./attempts.ts";
import { compare } from "./compare.ts";
import { type Expectation, predicted } from "./expectation.ts";
import { type Forgery, forgeries } from "./forgeries.ts";
import { people } from "./people.ts";
import { NothingRuns, type Runtimes } from "./runtimes.ts";
import { rules, type ToolName, threads } from "./shop.ts";
import type { Told } from "./step.ts";

type Play = {
  readonly actions: readonly Action[];
  /** The process dies after so many points, if it has not come to rest by then; at rest otherwise. */
  readonly diesAfter?: number;
  /** All of them happen while the runtimes are closed and opened again. */
  readonly restarts?: boolean;
  /** They happen where nobody runs threads, and the rule of this number is deployed before somebody does. */
  readonly deploys?: number;
};

class Command implements fc.AsyncCommand<Expectation, Runtimes> {
  readonly #plays: readonly Play[];

  constructor(...plays: readonly Play[]) {
    this.#plays = plays;
  }

  check(): boolean {
    return true;
  }

  async run(model: Expectation, real: Runtimes): Promise<void> {
    for (const each of this.#plays) await play(model, real, each);
  }

  toString(): string {
    return this.#plays.map((each) => JSON.stringify(each)).join();
  }
}

/** Does it, lets everything come to rest, and compares. */
export async function play(model: Expectation, real: Runtimes, { actions, diesAfter, restarts, deploys }: Play) {
  const before = await real.rows();
  const memory = new Map(model.memory);
  const { rule } = real;
  // Where nobody holds the clock it takes a step of its own to let time pass.
  const possible = actions.filter(({ kind }) => kind !== "pass" || actions.length === 1 || !real.isShared);
  const prepared = possible.flatMap((action) => prepare(model, real, action) ?? []);
  const expected = prepared.map(({ attempt }) => attempt && predicted(attempt.asked, attempt.attempt, rule));
  if (deploys !== undefined) {
    await real.close();
    await real.open({ runs: false });
  }
  if (diesAfter !== undefined) real.light(diesAfter);
  const running = prepared.map((each, index) => outcomeOf(real, each, index));
  if (restarts) {
    await real.close();
    await real.open();
  }
  const outcomes = await Promise.all(running);
  const except = () => new Set(model.asked.flatMap(({ id, isRevived }) => (isRevived ? [id] : [])));
  if (deploys !== undefined) {
    await real.close();
    real.rule = deploys;
    await real.open();
  }
  if (diesAfter !== undefined) {
    // Whatever keeps it from coming to rest is found again afterwards.
    await Promise.race([real.runtime(0).died, real.settle(except()).catch(() => undefined)]);
    await real.replaceDead();
  }
  await real.settle(except());
  const told = prepared.map((each, index): Told => {
    return { prepared: each, expected: expected[index], outcome: outcomes[index] ?? "lost" };
  });
  const isExact = prepared.length === 1 && diesAfter === undefined && !restarts;
  await compare(model, real, {
    told,
    before,
    memory,
    rule,
    ruleAfter: real.rule,
    isLeft: deploys !== undefined,
    isExact,
  });
}

/** What it came to: a word, the code of what it threw, or `lost` when nobody lives to tell. */
async function outcomeOf(real: Runtimes, { run }: Prepared, number: number): Promise<string> {
  try {
    return await Promise.race([run(number), real.runtime(number).died.then(() => "lost")]);
  } catch (thrown) {
    if (thrown instanceof NothingRuns) return "lost";
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return thrown.code.startsWith("database_") ? "lost" : thrown.code;
  }
}

// Large numbers are as good as small ones here.
const pick = fc.noBias(fc.nat(239));
const thread = fc.nat(threads.length - 1);
const toolName = fc.constantFrom<ToolName[]>("shop/refund", "shop/refund", "client/pay", "client/ask");
const well = fc.constantFrom<Edit[]>("nothing", "cents", "everything");
const badly = fc.constantFrom<Edit[]>("too much", "wrong type", "actor", "no map");
const answer = (weight: number, decision: "accepted" | "rejected", edit: fc.Arbitrary<Edit>, remember = false) => ({
  weight,
  arbitrary: edit.map((made) => ({ decision, edit: made, remember })),
});
const none = fc.constant<Edit>("none");
const decision = fc.oneof(
  answer(8, "accepted", none),
  answer(4, "accepted", well),
  answer(1, "accepted", badly),
  answer(2, "accepted", none, true),
  answer(4, "rejected", none),
  answer(1, "rejected", none, true),
  answer(1, "accepted", fc.oneof(well, badly), true),
  answer(1, "rejected", fc.oneof(well, badly)),
);

const send = fc.record({
  kind: fc.constant("send" as const),
  thread,
  tools: fc.array(toolName, { minLength: 1, maxLength: 2 }),
});
const decide = fc
  .record({
    pick,
    person: fc.oneof({ weight: 3, arbitrary: fc.constant(people.length) }, { weight: 2, arbitrary: fc.nat(7) }),
    decision,
    via: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom("requests" as const, "approvals" as const) },
      { weight: 1, arbitrary: fc.constant("another thread" as const) },
    ),
  })
  .map(({ decision: made, ...rest }) => ({ kind: "decide" as const, ...rest, ...made }));
const bring = fc.record({
  kind: fc.constant("bring" as const),
  pick,
  brought: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<Brought[]>("result", "error") },
    { weight: 1, arbitrary: fc.constantFrom<Brought[]>("wrong result", "nothing", "decision") },
  ),
});
const replay = fc.record({
  kind: fc.constant("replay" as const),
  pick,
  person: fc.option(fc.nat(7), { freq: 1 }),
  isChanged: fc.boolean(),
});
const say = fc.record({
  kind: fc.constant("say" as const),
  pick,
  words: fc.constantFrom<Words[]>("yes", "json", "approval envelope", "result envelope"),
  isSent: fc.boolean(),
});
const queueTool = fc.record({
  kind: fc.constant("queue tool" as const),
  thread,
  tool: fc.constantFrom<(ToolName | "holdfast/approve")[]>("shop/refund", "client/pay", "holdfast/approve"),
});
const stop = fc.record({ kind: fc.constant("stop" as const), pick });
// No sum of these is exactly how long something waits.
const pass = fc.record({ kind: fc.constant("pass" as const), minutes: fc.constantFrom(7, 14, 91) });
const forged = fc.record({
  kind: fc.constant("forge" as const),
  pick,
  forgery: fc.constantFrom<Forgery[]>(...forgeries),
});
const forget = fc.record({ kind: fc.constant("forget" as const), pick });

const one = (action: fc.Arbitrary<Action>) => action.map((made) => new Command({ actions: [made] }));

/** Several at once, all of them about the same request. */
function atOnce(of: "approval" | "client_tool", answers: fc.Arbitrary<Action>) {
  const action = fc.oneof<fc.Arbitrary<Action>[]>(answers, answers, answers, answers, stop, pass);
  return fc
    .tuple(pick, fc.array(action, { minLength: 2, maxLength: 3 }))
    .map(([chosen, made]) =>
      made.map((each): Action => ({ ...viaRequests(each), ...("pick" in each && { pick: chosen, of }) })),
    );
}

/** The queue does not say whether an answer was the first, which has to be known where there are several. */
function viaRequests(action: Action): Action {
  return action.kind === "decide" && action.via === "approvals" ? { ...action, via: "requests" } : action;
}

/** Something is changed past the runtime, and then somebody who may agrees to it. */
const tampered = fc
  .tuple(fc.noBias(fc.nat(6)), fc.constantFrom(...forgeries), answer(1, "accepted", fc.oneof(none, well)).arbitrary)
  .map(([chosen, forgery, made]): Action[] => [
    { kind: "forge", pick: chosen, of: "approval", forgery },
    { kind: "decide", pick: chosen, person: people.length, via: "requests", ...made },
  ])
  .map((actions) => new Command(...actions.map((action) => ({ actions: [action] }))));

const rule = fc.nat(rules.length - 1);
const together = fc.oneof(atOnce("approval", decide), atOnce("client_tool", bring));
const race = together.map((actions) => new Command({ actions }));
const raceWithRestart = together
  .map((actions) => actions.filter(({ kind }) => kind !== "pass"))
  .map((actions) => new Command({ actions, restarts: true }));
const restart = fc.constant(new Command({ actions: [], restarts: true }));
const crash = fc
  .tuple(
    fc.oneof<fc.Arbitrary<Action>[]>(send, decide, decide, bring, stop),
    fc.oneof(fc.nat(4), fc.noBias(fc.nat(30))),
  )
  .map(([action, diesAfter]) => new Command({ actions: [viaRequests(action)], diesAfter }));
const ofOne = (of: "approval" | "client_tool", answers: fc.Arbitrary<Action>) =>
  fc
    .tuple(pick, answers, stop)
    .map(([chosen, ...made]) => made.map((each) => ({ ...viaRequests(each), pick: chosen, of })));
const left = fc.oneof<fc.Arbitrary<Action[]>[]>(
  fc.constant([]),
  fc.tuple(fc.oneof<fc.Arbitrary<Action>[]>(decide, decide, bring)),
  fc.oneof(ofOne("approval", decide), ofOne("client_tool", bring)),
);
const deploy = fc.tuple(left, rule).map(([actions, deploys]) => new Command({ actions, deploys }));

/** A run of the test, as fast-check makes it up. */
export function anyCommands(maxCommands: number) {
  const often = [one(send), one(send), one(decide), one(decide), one(decide), one(bring), race, race];
  const sometimes = [
    one(replay),
    one(replay),
    one(say),
    one(queueTool),
    one(stop),
    one(pass),
    one(forged),
    tampered,
    one(forget),
  ];
  const rarely = [restart, raceWithRestart, crash, crash, deploy];
  return fc.commands([...often, ...often, ...sometimes, ...rarely], { maxCommands, size: "max" });
}
