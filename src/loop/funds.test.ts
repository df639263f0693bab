import { describe, expect, it } from "vitest";
import { asked, call, machine, playInEveryWay, returned } from "../../test/machine.ts";
import * as message from "../contracts/conversation/message.ts";
import { release } from "./advance.ts";
import type { Funds } from "./config.ts";
import type { Arrived, Next } from "./next.ts";
import type { RunOptions } from "./options.ts";
import type { Amounts } from "./records.ts";
import { fold } from "./state.ts";

type Price = NonNullable<Funds["models"][number]["price"]>;

const cheap: Price = { input: 1, output: 10 };
const dear: Price = { input: 5, output: 50, cached: 0.5 };

/** One model with a price, and no ceiling, unless told otherwise. */
function funds(more: Partial<Funds> & { price?: Price | null; maxOutputTokens?: number } = {}): Funds {
  const { price = cheap, maxOutputTokens = null, ...given } = more;
  return {
    tokens: null,
    nanodollars: null,
    isShared: false,
    models: [{ price, maxOutputTokens }],
    overhead: 100,
    paysSummaries: true,
    ...given,
  };
}

/** The message "go" is two tokens for its role and payload, and one for its words. */
const PROMPT = 103;

const counting = (given: Funds, options: RunOptions = {}) => machine(options, { clock: "call" }, { funds: given });

const maxOutput = (next: Next) =>
  next.kind === "effect" && next.order.kind === "call_model" ? next.order.maxOutputTokens : asked(next);

const answer = (usage: unknown, ...tool_calls: unknown[]): Arrived => returned({ content: "Yes.", tool_calls, usage });
const usage = (prompt_tokens: number, completion_tokens: number, more = {}) => ({
  ...{ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  ...more,
});

describe("before a model is asked", () => {
  it("is set aside what it may cost at most: what it is shown, and the longest answer", () => {
    const made = counting(funds());
    expect(maxOutput(made.bring())).toBeUndefined();
    expect(made.state().reserved).toEqual({ tokens: PROMPT + 16_384, nanodollars: PROMPT * 1_000 + 16_384 * 10_000 });
    const brief = counting(funds({ maxOutputTokens: 200 }));
    brief.bring();
    expect(brief.state().reserved).toEqual({ tokens: PROMPT + 200, nanodollars: PROMPT * 1_000 + 200 * 10_000 });
  });

  it("is nothing counted where there is nothing to count", () => {
    const made = machine();
    made.bring();
    made.bring(answer(usage(5, 5)));
    expect(made.state()).toMatchObject({ reserved: null, spent: { tokens: 0, nanodollars: 0 } });
    expect(made.records.map(({ fact }) => fact.type)).not.toContain("turn.assembled");
  });

  it("is its answer made as short as it has to be", () => {
    expect(maxOutput(counting(funds({ tokens: 1_000 })).bring())).toBe(1_000 - PROMPT);
    // 897,000 nanodollars are left after what the model is shown, and a token of the answer takes 10,000.
    expect(maxOutput(counting(funds({ nanodollars: 1_000_000 })).bring())).toBe(89);
    const both = funds({ tokens: 300, nanodollars: 100_000_000 });
    expect(maxOutput(counting(both).bring())).toBe(300 - PROMPT);
    expect(maxOutput(counting(funds({ tokens: 1_000, maxOutputTokens: 50 })).bring())).toBe(50);
  });

  it.each([
    ["tokens", { tokens: PROMPT + 31 }, { tokens: PROMPT + 32 }],
    ["usd", { nanodollars: PROMPT * 1_000 + 319_999 }, { nanodollars: PROMPT * 1_000 + 320_000 }],
    // A model that is never asked for more may answer in fewer.
    ["tokens", { tokens: PROMPT + 9, maxOutputTokens: 10 }, { tokens: PROMPT + 10, maxOutputTokens: 10 }],
  ])("does the run end for want of %s when no answer of any use is left", (name, short, enough) => {
    const { machine: made, asked: all } = playInEveryWay(() => counting(funds(short)), [undefined]);
    expect(all).toEqual([{ kind: "end" }]);
    expect(made.state()).toMatchObject({ stops: { budget: name }, reserved: null, spent: { tokens: 0 } });
    expect(made.notices.map(({ event }) => event)).toContain("budget_exceeded");
    expect(asked(counting(funds(enough)).bring())).toBe("call_model");
  });

  it("does the run end when the next answer would cross a ceiling, and never after it was crossed", () => {
    const made = counting(funds({ tokens: 600 }), { maxTurns: 9 });
    let turns = 0;
    for (let next = made.bring(); next.kind !== "end"; turns++) {
      const most = maxOutput(next);
      if (typeof most !== "number") throw new Error(`The run asks for ${most}.`);
      const { spent, reserved } = made.state();
      expect(spent.tokens + (reserved?.tokens ?? 0)).toBeLessThanOrEqual(600);
      next = made.bring(answer(usage(PROMPT, Math.min(40, most)), call(`${turns}`)));
      next = made.bring(returned("done"));
    }
    expect(turns).toBeGreaterThan(1);
    expect(made.state()).toMatchObject({ stops: { budget: "tokens" }, reserved: null });
    expect(made.state().spent.tokens).toBeLessThanOrEqual(600);
  });
});

describe("funds that others use too", () => {
  const shared = (given: Partial<Funds> = {}) => counting(funds({ ...given, isShared: true }));

  it("are asked for before every call", () => {
    const made = shared();
    expect(asked(made.bring())).toBe("funds");
    made.restart();
    expect(asked(made.bring())).toBe("funds");
    expect(maxOutput(made.bring(returned({ tokens: 500, nanodollars: null })))).toBe(500 - PROMPT);
    made.bring(answer(usage(PROMPT, 20), call("a")));
    expect(asked(made.bring(returned("done")))).toBe("funds");
  });

  it("end the run when they are used up, beside ceilings of its own", () => {
    for (const [left, budget] of [
      [{ tokens: PROMPT + 31, nanodollars: null }, "shared_tokens"],
      [{ tokens: null, nanodollars: 1 }, "shared_usd"],
      [{ tokens: -40, nanodollars: -40 }, "shared_tokens"],
    ] as const) {
      const made = shared({ tokens: 5_000 });
      made.bring();
      expect(made.bring(returned(left))).toEqual({ kind: "end" });
      expect(made.state()).toMatchObject({ stops: { budget }, reserved: null });
    }
  });

  it("limit nothing where they have no ceiling", () => {
    const made = shared();
    made.bring();
    expect(maxOutput(made.bring(returned({ tokens: null, nanodollars: null })))).toBeUndefined();
    expect(made.state().reserved).not.toBeNull();
  });

  it("fail the run when nobody can say what is left", () => {
    const made = shared();
    made.bring();
    expect(made.bring({ threw: new Error("There is no budget.") })).toEqual({ kind: "end" });
    expect(made.state()).toMatchObject({ stops: { failure: "thrown" }, spent: { tokens: 0 } });
  });
});

describe("what an answer has cost", () => {
  it.each<[string, Price | null, unknown, Amounts]>([
    ["by the provider's count", cheap, usage(200, 30), { tokens: 230, nanodollars: 500_000 }],
    [
      "also when it is more than was set aside",
      cheap,
      usage(9_000, 9_000),
      { tokens: 18_000, nanodollars: 99_000_000 },
    ],
    ["as output where it is not told apart", cheap, { total_tokens: 100 }, { tokens: 100, nanodollars: 1_000_000 }],
    [
      "with what was thought but not said",
      cheap,
      usage(10, 5, { total_tokens: 35 }),
      { tokens: 35, nanodollars: 260_000 },
    ],
    [
      "less for what was cached",
      dear,
      usage(1_000, 10, { cached_tokens: 800 }),
      { tokens: 1_010, nanodollars: 1_900_000 },
    ],
    [
      "for no more cached than there was",
      dear,
      usage(10, 1, { cached_tokens: 99 }),
      { tokens: 11, nanodollars: 55_000 },
    ],
    [
      "as other input, where the cache has no price",
      cheap,
      usage(100, 1, { cached_tokens: 90 }),
      { tokens: 101, nanodollars: 110_000 },
    ],
    ["in whole tokens", cheap, { prompt_tokens: 1.2, completion_tokens: 0.5 }, { tokens: 3, nanodollars: 12_000 }],
    ["in tokens alone without a price", null, usage(200, 30), { tokens: 230, nanodollars: 0 }],
  ])("is counted %s", (_title, price, used, spent) => {
    const make = () => counting(funds({ price }));
    const { machine: made } = playInEveryWay(make, [undefined, answer(used)]);
    expect(made.state()).toMatchObject({ spent, reserved: null });
  });

  it.each([
    ["says nothing", undefined],
    ["says that it was nothing", usage(0, 0)],
    ["says nonsense", { prompt_tokens: "many", completion_tokens: -5, total_tokens: Number.NaN }],
  ])("is all that was set aside when the provider %s", (_title, used) => {
    const made = counting(funds());
    made.bring();
    const { reserved } = made.state();
    made.bring(answer(used));
    expect(made.state()).toMatchObject({ spent: reserved, reserved: null });
  });

  it("is never more than was set aside for as many tokens, whatever the price", () => {
    for (const price of [0.07, 0.1, 0.333_333, 1.005, 2.3, 4.35, 17.77]) {
      const made = counting(funds({ price: { input: price, output: price * 3 }, maxOutputTokens: 777 }));
      made.bring();
      const most = made.state().reserved?.nanodollars ?? 0;
      made.bring(answer(usage(PROMPT, 777)));
      expect(made.state().spent.nanodollars).toBeLessThanOrEqual(most);
      expect(made.state().spent.nanodollars).toBeGreaterThan(most * 0.98);
    }
  });

  it("follows the price of the model that gave it", () => {
    const models = [cheap, dear].map((price) => ({ price, maxOutputTokens: 100 }));
    const made = counting(funds({ models }));
    made.bring();
    expect(made.state().reserved).toEqual({ tokens: PROMPT + 100, nanodollars: PROMPT * 1_000 + 100 * 10_000 });
    made.bring({ postponed: { until: 0, model: 1 } });
    expect(made.state().reserved).toEqual({ tokens: PROMPT + 100, nanodollars: PROMPT * 5_000 + 100 * 50_000 });
    made.bring(answer(usage(100, 10), call("a")));
    expect(made.state().spent).toEqual({ tokens: 110, nanodollars: 1_000_000 });
    made.bring(returned("done"));
    expect(made.state().postponed).toBeNull();
    made.bring(answer(usage(100, 10)));
    expect(made.state().spent).toEqual({ tokens: 220, nanodollars: 1_200_000 });
  });

  it("is all paid for an answer that was cut off by a ceiling, and the run ends there", () => {
    const cut = returned({ content: "Once upon", tool_calls: [], request_metadata: { finish_reason: "length" } });
    const { machine: made, asked: all } = playInEveryWay(() => counting(funds({ tokens: 400 })), [undefined, cut]);
    expect(all[1]).toEqual({ kind: "end" });
    expect(made.state()).toMatchObject({ stops: { budget: "tokens" }, spent: { tokens: 400 } });
    // One that is as long as it may be anyway, or that ended by itself, was not cut off by a ceiling.
    for (const own of [funds({ tokens: 400, maxOutputTokens: 50 }), funds()]) {
      const { machine: whole } = playInEveryWay(() => counting(own), [undefined, cut]);
      expect(whole.state().stops).toEqual({});
    }
    const { machine: ended } = playInEveryWay(() => counting(funds({ tokens: 400 })), [undefined, answer(usage(9, 9))]);
    expect(ended.state().stops).toEqual({});
  });

  it("stays counted when the answer cannot be used", () => {
    for (const unusable of [
      { failure: { message: "No." }, usage: usage(50, 5) },
      { usage: usage(50, 5), events: 7 },
    ]) {
      const made = machine({ toolDeclarations: [] }, {}, { funds: funds() });
      made.bring();
      made.bring(returned(unusable));
      expect(made.state().spent).toEqual({ tokens: 55, nanodollars: 100_000 });
    }
  });
});

describe("an attempt that came to nothing", () => {
  const stop = (performed: boolean): Arrived => ({ stop: message.text("user", "Stop."), performed });
  const failure = new Error("Cut off.");

  it.each<[string, Arrived, boolean]>([
    ["was put off before it had spoken", { postponed: { until: 9 } }, false],
    ["was put off after it had spoken", { postponed: { until: 9, hasSpoken: true } }, true],
    ["failed before it had spoken", { threw: failure }, false],
    ["failed after it had spoken", { threw: failure, hasSpoken: true }, true],
    ["was stopped before it began", stop(false), false],
    ["was stopped while it was under way", stop(true), true],
  ])("counts as much as it may have to be paid for: it %s", (_title, arrived, isPaid) => {
    const { machine: made } = playInEveryWay(() => counting(funds()), [undefined, arrived]);
    const begun = made.records.find(({ fact }) => fact.type === "begun")?.fact;
    const reserved = begun?.type === "begun" ? begun.reserved : undefined;
    expect(made.state().spent).toEqual(isPaid ? reserved : { tokens: 0, nanodollars: 0 });
    expect(made.state().reserved).toBeNull();
  });

  it("is all paid for when nobody saw its end, and the next one has what is left", () => {
    const made = counting(funds({ tokens: 1_000, maxOutputTokens: 400 }));
    expect(maxOutput(made.bring())).toBe(400);
    const lost = PROMPT + 400;
    made.restart();
    expect(maxOutput(made.bring())).toBe(1_000 - lost - PROMPT);
    expect(made.state()).toMatchObject({ spent: { tokens: lost }, reserved: { tokens: 1_000 - lost } });
    made.takeDownAndUp();
    expect(made.bring()).toEqual({ kind: "end" });
    expect(made.state()).toMatchObject({ spent: { tokens: 1_000 }, reserved: null, stops: { budget: "tokens" } });
    expect(fold(made.records)).toEqual(made.state());
  });

  it("is not made again when the time is up by then, and is paid for all the same", () => {
    const limits = { budgets: [{ name: "wall_clock_seconds", ceiling: 5 }] };
    for (const given of [funds(), null]) {
      const made = machine(limits, { clock: "call" }, { funds: given });
      made.bring();
      const { reserved } = made.state();
      made.restart();
      expect(made.bring(undefined, 5_000)).toEqual({ kind: "end" });
      expect(made.state()).toMatchObject({ stops: { budget: "wall_clock_seconds" }, in_flight: null, reserved: null });
      expect(made.state().spent.tokens).toBe(reserved?.tokens ?? 0);
    }
  });

  it("costs nothing when it was taken back before it began", () => {
    const made = counting(funds());
    made.bring();
    const { state, records } = release(made.state(), made.working, 0);
    expect(records.map(({ fact }) => fact.type)).toEqual(["effect.released"]);
    expect(state).toMatchObject({ in_flight: null, reserved: null, spent: { tokens: 0 }, position: "turn.model" });
  });

  it("is not counted where it was begun by a version that did not count yet", () => {
    const made = machine();
    made.bring();
    const counted = counting(funds());
    for (const record of made.records) counted.records.push(record);
    for (const body of made.bodies) counted.bodies.push(body);
    counted.restart();
    expect(maxOutput(counted.bring())).toBeUndefined();
    expect(asked(counted.bring(answer(usage(5, 5))))).toBe("end");
    expect(counted.state()).toMatchObject({ spent: { tokens: 0 }, reserved: null });
  });
});

describe("a summary", () => {
  const compacts: RunOptions = {
    maxTurns: 9,
    compactionPolicy: { enabled: true, max_messages: 2, recent_messages: 1 },
    summarizer: () => "",
  };

  /** A run that has something to summarize. */
  function toBeCompacted(given: Funds) {
    const made = counting(given, compacts);
    made.bring();
    if (given.isShared) made.bring(returned({ tokens: null, nanodollars: null }));
    made.bring(answer(usage(40, 10), call("a")));
    return { made, next: made.bring(returned("done")) };
  }

  it.each<[string, Arrived, number | "all"]>([
    ["by the provider's count", { returned: "In short.", usage: usage(30, 20) }, 50],
    ["with all that was set aside when nobody counts", { returned: "In short." }, "all"],
    ["though it came to nothing", { threw: new Error("No words."), usage: usage(30, 1) }, 31],
    ["with all that was set aside when it broke off", { threw: new Error("Cut off."), hasSpoken: true }, "all"],
    ["with nothing when it was never begun", { threw: new Error("Refused.") }, 0],
  ])("is paid for too, %s", (_title, arrived, cost) => {
    const { made, next } = toBeCompacted(funds());
    expect(asked(next)).toBe("summarize");
    const { reserved, spent } = made.state();
    expect(reserved?.tokens).toBeGreaterThan(2_048);
    made.bring(arrived);
    const tokens = cost === "all" ? (reserved?.tokens ?? 0) : cost;
    expect(made.state().spent.tokens).toBe(spent.tokens + tokens);
  });

  it("costs the run nothing when somebody else writes it", () => {
    const { made, next } = toBeCompacted(funds({ paysSummaries: false, tokens: 1_000 }));
    expect(asked(next)).toBe("summarize");
    expect(made.state().reserved).toBeNull();
  });

  it("is not asked for when too little is left for it: the transcript stays as it is", () => {
    const { made, next } = toBeCompacted(funds({ tokens: 2_000 }));
    expect(asked(next)).toBe("call_model");
    expect(made.working.transcript).toHaveLength(4);
    expect(made.state().spent.tokens + (made.state().reserved?.tokens ?? 0)).toBeLessThanOrEqual(2_000);
  });

  it.each([
    ["asked for when there is enough", returned({ tokens: 9_000, nanodollars: null }), "summarize"],
    ["not asked for when there is not", returned({ tokens: 2_000, nanodollars: null }), "funds"],
    ["not asked for when nobody can say", { threw: new Error("There is no budget.") }, "funds"],
  ] as [string, Arrived, string][])("is %s in funds that others use too", (_title, left, then) => {
    const { made, next } = toBeCompacted(funds({ isShared: true }));
    expect(asked(next)).toBe("funds");
    expect(made.state().position).toBe("turn.compact");
    expect(asked(made.bring(left))).toBe(then);
    expect(made.notices.filter(({ event }) => event === "turn_started")).toHaveLength(2);
  });

  it("is all paid for when nobody saw its end, and its turn is announced once", () => {
    const { made } = toBeCompacted(funds());
    const { reserved, spent } = made.state();
    made.restart();
    expect(asked(made.bring())).toBe("summarize");
    expect(made.state()).toMatchObject({ spent: { tokens: spent.tokens + (reserved?.tokens ?? 0) }, reserved });
    expect(made.notices.filter(({ event }) => event === "turn_started")).toHaveLength(2);
  });
});
