// One call of `advance` in the making: the state as it changes, and everything that goes into the batch.
import type { Message } from "../contracts/conversation/message.ts";
import { type JsonMap, seal } from "../contracts/json.ts";
import * as callGate from "../contracts/tools/call-gate.ts";
import { canonicalName } from "../contracts/tools/declaration.ts";
import type { Config } from "./config.ts";
import type { EffectOrder, Next, Notice } from "./next.ts";
import type { Amounts, CheckedPlace, Effect, Fact, LogRecord, Position } from "./records.ts";
import { apply, type Draft, type State } from "./state.ts";
import { absorb, type Body, type OpenCall, type Working } from "./working.ts";

export class Step {
  readonly records: LogRecord[] = [];
  readonly bodies: Body[] = [];
  readonly notices: Notice[] = [];
  readonly working: Working;
  readonly config: Config;
  readonly now: number;
  readonly #state: Draft;
  readonly #keepsLog: boolean;

  /** With `inPlace` the given state itself is led on and no log is made. */
  constructor(state: State, working: Working, now: number, inPlace: boolean) {
    this.#state = inPlace ? state : { ...state };
    this.#keepsLog = !inPlace;
    this.working = working;
    this.config = working.config;
    this.now = now;
  }

  get state(): State {
    return this.#state;
  }

  get context(): JsonMap {
    return this.working.context;
  }

  get call(): OpenCall {
    const { call } = this.working;
    if (!call) throw new Error(`No call is open at ${this.#state.position}.`);
    return call;
  }

  /** Writes a fact down with the content it points to, and goes to where the run continues. */
  record(fact: Fact, to: Position, bodies: readonly Body[] = []): void {
    const before = this.#state.tallies;
    const tallies = this.config.callRules.length > 0 ? this.#tally(fact, bodies) : before;
    let from = this.working.transcript.length;
    let wrote = false;
    for (const body of bodies) {
      if (body.to === "history") from = body.keep;
      wrote ||= body.to === "transcript" || body.to === "history";
      absorb(this.working, body);
      if (this.#keepsLog) this.bodies.push(body);
    }
    const record: LogRecord = {
      seq: this.#state.seq,
      at: this.now,
      fact,
      to,
      wrote: wrote ? [from, this.working.transcript.length] : null,
      tallies: tallies === before ? null : tallies,
    };
    if (this.#keepsLog) this.records.push(record);
    apply(this.#state, record);
  }

  /** What the call gate will have seen with these bodies. Only a changed history is read again. */
  #tally(fact: Fact, bodies: readonly Body[]): readonly callGate.Tally[] {
    const { transcript } = this.working;
    let { tallies } = this.#state;
    if (fact.type === "flow.started") tallies = this.#count(transcript);
    for (const body of bodies) {
      if (body.to === "compaction") {
        tallies = this.#count(transcript.slice(body.drop), this.#count(body.added));
      } else if (body.to === "history") {
        const isKept = body.keep === transcript.length;
        tallies = this.#count(body.added, isKept ? tallies : this.#count(transcript.slice(0, body.keep)));
      } else if (body.to === "transcript" && body.message.type === "tool_call") {
        tallies = this.#count([body.message], tallies);
      }
    }
    return tallies;
  }

  /** A call counts for the tool it stands for, by whatever name the model made it. */
  #count(messages: readonly Message[], from?: readonly callGate.Tally[]): readonly callGate.Tally[] {
    const { callRules, tools } = this.config;
    return callGate.tallyMessages(callRules, messages, from, (name) => canonicalName(name, tools));
  }

  /** The position, with a look at cancellation before it when there is somebody to ask. */
  checked(place: CheckedPlace): Position {
    return this.config.asked.cancellation ? `check ${place}` : place;
  }

  /** Orders an effect. Its beginning is recorded once; after a restart it is ordered again as it stands. */
  begin(
    effect: Effect,
    order: EffectOrder,
    awaitedAt: Position,
    cost: { reserved?: Amounts; limited?: string } = {},
  ): Next {
    const fact = { type: "begun", effect, ...cost } as const;
    if (this.#state.in_flight?.kind !== effect.kind) this.record(fact, awaitedAt);
    return { kind: "effect", order };
  }

  notify(event: string, payload: JsonMap): JsonMap {
    const frozen = seal(payload);
    this.notices.push({ event, payload: frozen });
    return frozen;
  }

  /** Tells observers and keeps the event with the run. */
  notifyAndKeep(event: string, payload: JsonMap): Body {
    return keptEvent(event, this.notify(event, payload));
  }
}

export function keptEvent(type: string, metadata: JsonMap): Body {
  return { to: "event", value: seal({ type, metadata: seal(metadata) }) };
}

export function added(message: Message): Body {
  return { to: "transcript", message };
}
