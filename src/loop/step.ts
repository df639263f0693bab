// One call of `advance` in the making: the state as it changes, and everything that goes into the batch.
import type { Message } from "../contracts/conversation/message.ts";
import { type JsonMap, seal } from "../contracts/json.ts";
import type { EffectOrder, Next, Notice } from "./next.ts";
import type { Effect, Fact, LogRecord, Position } from "./records.ts";
import { apply, type State } from "./state.ts";
import { absorb, type Body, type Config, type OpenCall, type Working } from "./working.ts";

export class Step {
  readonly records: LogRecord[] = [];
  readonly bodies: Body[] = [];
  readonly notices: Notice[] = [];
  readonly working: Working;
  readonly config: Config;
  readonly now: number;
  #state: State;

  constructor(state: State, working: Working, now: number) {
    this.#state = state;
    this.working = working;
    this.config = working.config;
    this.now = now;
  }

  get state(): State {
    return this.#state;
  }

  /** The context of this turn: what the caller gave, and the turn's number. */
  get context(): JsonMap {
    return seal({ ...this.config.context, turn: this.#state.turn });
  }

  get call(): OpenCall {
    const { call } = this.working;
    if (!call) throw new Error(`No call is open at ${this.#state.position}.`);
    return call;
  }

  /** Writes a fact down with the content it points to, and goes to where the run continues. */
  record(fact: Fact, to: Position, bodies: readonly Body[] = []): void {
    const { length } = this.working.transcript;
    let from = length;
    let wrote = false;
    for (const body of bodies) {
      absorb(this.working, body);
      this.bodies.push(body);
      if (body.to === "history") from = body.keep;
      wrote ||= body.to === "transcript" || (body.to === "history" && body.added.length > 0);
    }
    const seq = this.#state.seq;
    const place = { seq, at: this.now, to };
    const record: LogRecord = wrote
      ? { ...fact, ...place, wrote: [from, this.working.transcript.length] }
      : { ...fact, ...place };
    this.records.push(record);
    this.#state = apply(this.#state, record);
  }

  /** The position, with a look at cancellation before it when there is somebody to ask. */
  checked<Place extends Exclude<Position, `check ${string}`>>(place: Place): Position {
    return this.config.asked.cancellation ? `check ${place}` : place;
  }

  /** Orders an effect. Its beginning is recorded once; after a restart it is ordered again as it stands. */
  begin(effect: Effect, order: EffectOrder, awaitedAt: Position): Next {
    if (!this.#state.in_flight) this.record({ type: "begun", effect }, awaitedAt);
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
