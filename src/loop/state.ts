// The bounded value that follows from the records: where the run stands, what it has used up, why it stops. It never
// holds the transcript or any list that grows with the thread.
import * as budget from "../contracts/conversation/budget.ts";
import * as usage from "../contracts/conversation/usage.ts";
import type { Tally } from "../contracts/tools/call-gate.ts";
import type { FailureState } from "../contracts/tools/identical-failure.ts";
import type { SpinState } from "../contracts/tools/spin.ts";
import type { Amounts, Effect, Fact, LogRecord, Position, Speaking, Stops, Waiting } from "./records.ts";
import { controlled, isCut, marked, newStanding, type Standing, stepped } from "./standing.ts";

/** The tool calls of one answer (or the results a caller reported), taken one after another. */
export type Batch = {
  readonly count: number;
  readonly next: number;
  /** Nothing of this batch is taken any more. */
  readonly halted: boolean;
  /** The calls were queued for the run: the model did not make them. */
  readonly queued: boolean;
};

/** A call that waits for the prompt that it stands for, and what the step was at. */
export type Frame = Speaking & { readonly batch: Batch; readonly messages: number };

export type State = {
  readonly version: 1;
  readonly position: Position;
  /** How many records led here; the number of the next one. */
  readonly seq: number;
  readonly started_at: number;
  /** Tells this run from every other, so that what it asks for outside can be named after it. */
  readonly key: string;
  readonly turn: number;
  /** Length of the transcript. */
  readonly messages: number;
  /** How many calls were opened so far; the number of the next one. */
  readonly calls: number;
  readonly batch: Batch;
  /** How many queued calls wait to be the batch of the turn. */
  readonly queued: number;
  readonly in_flight: Effect | null;
  /**
   * Until when the next attempt waits, which model it asks, and how often that one was put off; kept until an attempt
   * comes to something.
   */
  readonly postponed: { readonly until: number; readonly times: number; readonly model: number } | null;
  /** What calls to models have cost so far, where that is counted. */
  readonly spent: Amounts;
  /** What is set aside for the call that is in flight. */
  readonly reserved: Amounts | null;
  /** The ceiling because of which the answer may be no longer. */
  readonly limited: string | null;
  /** The call that is parked. */
  readonly waiting: Waiting | null;
  /** Since when the run waits for somebody outside, and how long it has waited so far, in milliseconds. */
  readonly parked_at: number | null;
  readonly waited: number;
  /** How often the model was asked to give its last words another form. */
  readonly repairs: number;
  readonly budgets: Readonly<Record<string, budget.Budget>>;
  readonly usage: usage.Usage;
  readonly spin: SpinState | null;
  readonly failures: FailureState | null;
  readonly tallies: readonly Tally[];
  /** The conversation is complete as far as this turn can tell. */
  readonly complete: boolean;
  /** The call gate asked for another turn, whatever the continuation policy says. */
  readonly forced: boolean;
  readonly stops: Stops;
  /** Null for an agent without sides. */
  readonly standing: Standing | null;
  /** The prompts that were called as tools and are speaking, the outermost first. */
  readonly frames: readonly Frame[];
};

const noBatch: Batch = { count: 0, next: 0, halted: false, queued: false };

export const initialState: State = {
  version: 1,
  position: "flow.begin",
  seq: 0,
  started_at: 0,
  key: "",
  turn: 0,
  messages: 0,
  calls: 0,
  batch: noBatch,
  queued: 0,
  in_flight: null,
  postponed: null,
  spent: { tokens: 0, nanodollars: 0 },
  reserved: null,
  limited: null,
  waiting: null,
  parked_at: null,
  waited: 0,
  repairs: 0,
  budgets: {},
  usage: usage.zero,
  spin: null,
  failures: null,
  tallies: [],
  complete: false,
  forced: false,
  stops: {},
  standing: null,
  frames: [],
};

/** A state that is being led on by records; nobody else may hold it meanwhile. */
export type Draft = { -readonly [Key in keyof State]: State[Key] };

/** Leads a state on by a record, in place. What is decided changes the state only here, so a replay cannot differ. */
export function apply(state: Draft, record: LogRecord): void {
  state.position = record.to;
  state.seq = record.seq + 1;
  if (record.wrote) state.messages = record.wrote[1];
  if (record.tallies) state.tallies = record.tallies;
  change(state, record.fact, record.at);
}

/** The state that a log leads to. */
export function fold(records: readonly LogRecord[]): State {
  const state: Draft = { ...initialState };
  for (const record of records) apply(state, record);
  return state;
}

function change(state: Draft, fact: Fact, at: number): void {
  switch (fact.type) {
    case "flow.started":
      state.started_at = at;
      state.key = fact.key;
      state.messages = fact.messages;
      state.budgets = fact.budgets;
      if (fact.turns) state.standing = { ...newStanding, turns: fact.turns };
      break;
    case "inbox.drained":
      state.queued = fact.calls;
      break;
    case "turn.started":
      state.turn = fact.turn;
      state.batch = noBatch;
      state.complete = false;
      state.forced = false;
      if (state.standing) {
        const { side } = state.standing;
        state.standing = { ...state.standing, side: fact.side ?? side, marks: [], control: {}, code: null };
      }
      break;
    case "budget.set":
      state.budgets = spend(state.budgets, { [fact.name]: fact.used });
      if (fact.exceeded) state.stops = { ...state.stops, budget: fact.name };
      break;
    case "begun":
      state.in_flight = fact.effect;
      if (fact.reserved) state.reserved = fact.reserved;
      if (fact.effect.kind === "call_model") state.limited = fact.limited ?? null;
      break;
    case "attempt.lost":
      state.in_flight = null;
      pay(state, state.reserved ?? undefined);
      break;
    case "effect.released":
      state.in_flight = null;
      state.reserved = null;
      break;
    case "effect.postponed":
      state.in_flight = null;
      pay(state, fact.spent);
      state.postponed = postponed(state.postponed, fact);
      break;
    case "compacted":
      state.in_flight = null;
      state.postponed = null;
      state.messages = fact.messages;
      pay(state, fact.spent);
      break;
    case "model.responded":
      if (fact.control) state.standing = controlled(state.standing, fact.control);
      state.in_flight = null;
      state.postponed = null;
      pay(state, fact.spent);
      break;
    case "compaction.failed":
      state.in_flight = null;
      state.postponed = null;
      pay(state, fact.spent);
      break;
    case "call.returned":
      if (fact.control) state.standing = controlled(state.standing, fact.control);
      goOn(state, at);
      break;
    case "call.approved":
      goOn(state, at);
      break;
    case "model.failed":
      state.in_flight = null;
      state.postponed = null;
      pay(state, fact.spent);
      if (!fact.framed) state.stops = { ...state.stops, failure: fact.as };
      break;
    case "model.accepted":
      state.batch = { count: fact.calls, next: 0, halted: false, queued: false };
      if (fact.usage) state.usage = fact.usage;
      if (fact.exceeded) state.stops = { ...state.stops, budget: fact.exceeded };
      if (state.standing && state.frames.length === 0) state.standing = stepped(state.standing);
      break;
    case "queue.accepted":
      state.batch = { count: fact.calls, next: 0, halted: false, queued: true };
      state.queued = 0;
      break;
    case "call.skipped":
      state.batch = { ...state.batch, next: state.batch.next + 1 };
      break;
    case "call.opened":
      state.calls = fact.call + 1;
      if (fact.spin) state.spin = fact.spin;
      if (fact.stalled) state.stops = { ...state.stops, stalled: fact.stalled };
      break;
    case "call.waiting":
      state.in_flight = null;
      wait(state, fact, at);
      break;
    case "call.settled":
      state.batch = {
        ...state.batch,
        next: state.batch.next + 1,
        // What is settled after that ends nothing, and begins nothing again.
        halted: state.batch.halted || fact.exceeded !== undefined || fact.completes === true || isCut(state.standing),
      };
      if (state.standing) state.standing = marked(state.standing, fact);
      if (fact.budgets) state.budgets = spend(state.budgets, fact.budgets);
      if (fact.failures) state.failures = fact.failures;
      if (fact.completes) state.complete = true;
      if (fact.exceeded) state.stops = { ...state.stops, budget: fact.exceeded };
      break;
    case "result.judged":
      state.batch = { ...state.batch, next: state.batch.next + 1 };
      if (fact.complete) state.complete = true;
      break;
    case "call.judged":
      if (fact.complete) state.complete = true;
      break;
    case "batch.ended":
      state.complete = fact.complete;
      break;
    case "gate.blocked":
      state.complete = false;
      state.forced = true;
      break;
    case "turn.ended":
      state.budgets = spend(state.budgets, { turns: fact.turns });
      if (fact.exceeded) state.stops = { ...state.stops, budget: "turns" };
      break;
    case "interrupted":
      // What was under way is let go.
      state.in_flight = null;
      state.postponed = null;
      state.waiting = null;
      unpark(state, at);
      pay(state, fact.spent);
      state.stops = { ...state.stops, interrupted: true };
      break;
    case "callback.failed":
      state.stops = { ...state.stops, failure: "thrown" };
      break;
    case "output.judged":
      if (fact.as === "refused") state.stops = { ...state.stops, failure: "reported" };
      if (fact.as !== "repaired") break;
      state.repairs++;
      state.complete = false;
      state.forced = true;
      break;
    case "step.judged":
      if (state.standing) {
        const { code, side, turns } = fact;
        state.standing = { ...state.standing, code, side, turns };
      }
      break;
    case "handed.off":
      state.standing = { ...(state.standing ?? newStanding), side: "a" };
      state.complete = false;
      state.forced = true;
      break;
    case "frame.pushed": {
      const { call, prompt, at } = fact;
      state.frames = [...state.frames, { call, prompt, at, batch: state.batch, messages: state.messages }];
      state.batch = noBatch;
      state.messages = fact.messages;
      break;
    }
    case "frame.popped":
      leaveFrame(state);
      break;
    case "turn.assembled":
    case "tools.resolved":
    case "call.policed":
    case "call.decided":
    case "approval.decided":
    case "consulted":
    case "flow.ended":
      break;
    default:
      fact satisfies never;
  }
}

/** A parked call stays open until its result is brought; otherwise the run ends with it and the batch is over. */
function wait(
  state: Draft,
  { parks, as, call, request_id }: Extract<Fact, { type: "call.waiting" }>,
  at: number,
): void {
  const waiting = { as, call, request_id };
  if (parks) {
    state.waiting = waiting;
    state.parked_at = at;
    return;
  }
  state.stops = { ...state.stops, [as]: waiting };
  state.batch = { ...state.batch, next: state.batch.next + 1, halted: true };
}

function leaveFrame(state: Draft): void {
  const frame = state.frames.at(-1);
  if (!frame) return;
  state.frames = state.frames.slice(0, -1);
  state.batch = frame.batch;
  state.messages = frame.messages;
}

function goOn(state: Draft, at: number): void {
  state.in_flight = null;
  state.waiting = null;
  unpark(state, at);
}

function unpark(state: Draft, at: number): void {
  if (state.parked_at === null) return;
  state.waited += Math.max(0, at - state.parked_at);
  state.parked_at = null;
}

/** Counts what was spent; nothing stays set aside. */
function pay(state: Draft, spent: Amounts | undefined): void {
  state.reserved = null;
  if (!spent) return;
  const { tokens, nanodollars } = state.spent;
  state.spent = { tokens: sum(tokens, spent.tokens), nanodollars: sum(nanodollars, spent.nanodollars) };
}

function sum(before: number, more: number): number {
  return Math.min(before + more, Number.MAX_SAFE_INTEGER);
}

/** Another model begins its own count. */
function postponed(
  before: State["postponed"],
  { until, model }: Extract<Fact, { type: "effect.postponed" }>,
): State["postponed"] {
  const asked = before?.model ?? 0;
  if (model !== undefined && model !== asked) return { until, times: 0, model };
  return { until, times: (before?.times ?? 0) + 1, model: asked };
}

function spend(budgets: State["budgets"], used: Readonly<Record<string, number>>): State["budgets"] {
  const spent: Record<string, budget.Budget> = { ...budgets };
  for (const [name, current] of Object.entries(used)) {
    const counted = spent[name];
    if (counted) spent[name] = budget.setCurrent(counted, current);
  }
  return spent;
}
