// Readers of a thread, as tests use them: one that collects, one that is moved on by hand, and one that keeps what a user
// interface would show and notices whatever it is told twice or not at all.
import type { LivePosition } from "../src/threads/stream/live-reader.ts";
import type { StreamOptions } from "../src/threads/stream/read-stream.ts";
import type { CommittedEvent, LiveEvent, StreamEvent } from "../src/threads/stream/stream.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";

export function isCommitted(event: StreamEvent): event is CommittedEvent {
  return "id" in event;
}

export async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const collected: StreamEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

/** What was committed, until the run has ended. */
export async function committed(thread: ThreadHandle, options: StreamOptions = {}): Promise<CommittedEvent[]> {
  return (await collect(thread.stream({ untilRest: true, ...options }))).filter(isCommitted);
}

/** Reads on by hand: the next event that is of one of the types. */
export function reader(events: AsyncIterable<StreamEvent>) {
  const iterator = events[Symbol.asyncIterator]();
  async function next(...types: StreamEvent["type"][]): Promise<StreamEvent> {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) throw new Error("The stream has ended.");
      if (types.length === 0 || types.includes(value.type)) return value;
    }
  }
  /** Text until so many characters of an attempt have come. */
  async function text(length: number): Promise<string> {
    let said = "";
    while (said.length < length) {
      const event = (await next("text.delta", "step.restarted")) as LiveEvent;
      said = event.type === "text.delta" ? said.slice(0, event.offset) + event.text : "";
    }
    return said;
  }
  return { next, text, close: () => iterator.return?.() };
}

/** What a model has said of one answer. */
type Heard = { text: string; reasoning: string; inputs: Record<string, string>; length: number };

const nothing = (): Heard => ({ text: "", reasoning: "", inputs: {}, length: 0 });

/**
 * A user interface that follows a thread and may lose its connection at any time. It throws as soon as something is
 * missing, comes twice, comes out of order or is half a character.
 */
export class Client {
  readonly ids: string[] = [];
  /** Of each answer that was committed: its words, and what was heard of it until then. */
  readonly answers: { readonly words: string; readonly heard: Heard }[] = [];
  heard = nothing();
  restarts = 0;
  hasEnded = false;
  #live: LivePosition | undefined;

  /** Where to come back to. */
  get position(): Pick<StreamOptions, "after" | "live"> {
    const after = this.ids.at(-1);
    return { ...(after !== undefined && { after }), ...(this.#live && { live: this.#live }) };
  }

  take(event: StreamEvent): void {
    if (isCommitted(event)) this.#takeCommitted(event);
    else if ("step" in event) this.#takeLive(event);
  }

  /** Has not seen the last characters of a delta: as if the connection had broken in the middle of it. */
  takeBeginning(event: StreamEvent, length: number): void {
    if (!("offset" in event)) this.take(event);
    else if (length > 0) this.take({ ...event, text: event.text.slice(0, length) });
  }

  #takeCommitted(event: CommittedEvent): void {
    const last = this.ids.at(-1);
    if (last !== undefined && placeOf(event.id) <= placeOf(last)) throw new Error(`${event.id} came after ${last}.`);
    this.ids.push(event.id);
    if (event.type === "run.ended") this.hasEnded = true;
    if (event.type !== "message.added" || event.message.role !== "assistant") return;
    if (event.message.type !== "text") return;
    this.answers.push({ words: String(event.message.content), heard: this.heard });
    this.heard = nothing();
  }

  #takeLive(event: LiveEvent): void {
    const { step, attempt } = event;
    const isSame = this.#live?.step === step && this.#live.attempt === attempt;
    if (event.type === "step.restarted") {
      if (isSame || this.#live?.step !== step) throw new Error("Nothing was begun anew.");
      this.restarts++;
      this.heard = nothing();
      this.#live = { step, attempt, offset: 0 };
      return;
    }
    const { offset, text } = event;
    if (!isSame && this.#live?.step === step && this.heard.length > 0) throw new Error("It was begun anew in silence.");
    if (!isSame) this.heard = nothing();
    if (offset !== this.heard.length)
      throw new Error(`${JSON.stringify(text)} is at ${offset}, not ${this.heard.length}.`);
    if (text === "" || !text.isWellFormed()) throw new Error(`${JSON.stringify(text)} is no text.`);
    this.heard.length += text.length;
    this.#live = { step, attempt, offset: this.heard.length };
    if (event.type === "text.delta") this.heard.text += text;
    else if (event.type === "reasoning.delta") this.heard.reasoning += text;
    else this.heard.inputs[event.tool_call_id] = (this.heard.inputs[event.tool_call_id] ?? "") + text;
  }
}

function placeOf(id: string): number {
  const [commit = 0, place = 0] = id.split(".").map(Number);
  return commit * 1_000_000 + place;
}
