// One reader's place in what a model is saying: what it was told, and what comes next for it.
import { joinSegments, type LiveSegment, type LiveText } from "../../backend/live-text.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isWholeNumber } from "../whole-number.ts";
import type { CommittedAnswer, LiveEvent } from "./stream.ts";

/** A place in what a model says: so many characters of an attempt, over all of its parts. */
export type LivePosition = { readonly step: number; readonly attempt: number; readonly offset: number };

/** Turns all that was said so far into what a reader has not been told of it. */
export class LiveReader {
  #step = -1;
  #attempt = -1;
  #offset = 0;
  /** The commit that was to hold the answer. */
  #commit: number | undefined;
  /** What was read last, and the first segment of it that the reader may not have been told to the end. */
  #segments: readonly LiveSegment[] = [];
  #index = 0;
  #start = 0;

  /** `from`: where the reader was when it comes back; throws `invalid_stream_position` when that is no place. */
  constructor(from?: LivePosition) {
    if (from === undefined) return;
    const { step, attempt, offset } = from;
    if (![step, attempt, offset].every((part) => isWholeNumber(part, 0))) {
      throw holdfastError("invalid_stream_position", "live must have a step, an attempt and an offset, all from 0.");
    }
    this.#step = step;
    this.#attempt = attempt;
    this.#offset = offset;
  }

  /** What is new, in a few pieces. It costs as much as there is of it, however long the answer is. */
  read({ step, attempt, commit, segments }: LiveText): LiveEvent[] {
    if (step < this.#step || (step === this.#step && attempt < this.#attempt)) return [];
    const events = this.#begin(step, attempt);
    this.#commit = commit;
    // In this process a list grows. From others comes a new one each time.
    if (segments !== this.#segments) this.#find(segments);
    const unread: LiveSegment[] = [];
    for (let end = this.#start; this.#index < segments.length; this.#index++, this.#start = end) {
      const segment = segments[this.#index] as LiveSegment;
      end = this.#start + segment.text.length;
      if (end > this.#offset) unread.push(after(segment, this.#offset - this.#start));
      if (end > this.#offset) this.#offset = end;
    }
    let offset = this.#offset - lengthOf(unread);
    for (const segment of joinSegments(unread)) {
      events.push(deltaOf(segment, { step, attempt, offset }));
      offset += segment.text.length;
    }
    return events;
  }

  /**
   * What the reader has not been told of the words that an answer was committed with. If it was told of another attempt,
   * that is said first, and all the words are told.
   */
  finish({ step, words, commit }: CommittedAnswer): LiveEvent[] {
    const isBegun = step === this.#step && this.#offset > 0;
    const told = isBegun ? this.#words() : "";
    const isOther = told === undefined || !words.startsWith(told) || (isBegun && this.#commit !== commit);
    // No attempt that led to this commit has a smaller number.
    const attempt = isOther || !isBegun ? Math.max(this.#attempt + 1, commit) : this.#attempt;
    if (!isBegun) this.forget();
    const events = this.#begin(step, attempt);
    const text = isOther ? words : words.slice(told.length);
    if (text !== "") events.push({ type: "text.delta", step, attempt, offset: this.#offset, text });
    this.forget();
    return events;
  }

  /** An answer was committed: whatever is said next is another one. */
  forget(): void {
    this.#step = -1;
    this.#segments = [];
  }

  /** Another attempt at the same answer is announced. */
  #begin(step: number, attempt: number): LiveEvent[] {
    if (step === this.#step && attempt === this.#attempt) return [];
    const isRestarted = step === this.#step;
    this.#step = step;
    this.#attempt = attempt;
    this.#offset = 0;
    this.#segments = [];
    this.#index = 0;
    this.#start = 0;
    return isRestarted ? [{ type: "step.restarted", step, attempt }] : [];
  }

  /** Finds the place in another list. Whoever was in the middle of a character of two is told the whole of it. */
  #find(segments: readonly LiveSegment[]): void {
    this.#segments = segments;
    this.#index = 0;
    this.#start = 0;
    for (const { text } of segments) {
      const end = this.#start + text.length;
      if (end > this.#offset) {
        if (isInsideCharacter(text, this.#offset - this.#start)) this.#offset--;
        return;
      }
      this.#start = end;
      this.#index++;
    }
  }

  /** The words that the reader was told of this attempt; undefined when it was told more than is known here. */
  #words(): string | undefined {
    let left = this.#offset;
    const words: string[] = [];
    for (const { type, text } of this.#segments) {
      if (left <= 0) break;
      if (type === "text") words.push(text.slice(0, left));
      left -= text.length;
    }
    return left > 0 ? undefined : words.join("");
  }
}

function after(segment: LiveSegment, place: number): LiveSegment {
  return place > 0 ? { ...segment, text: segment.text.slice(place) } : segment;
}

function lengthOf(segments: readonly LiveSegment[]): number {
  return segments.reduce((length, { text }) => length + text.length, 0);
}

function deltaOf(segment: LiveSegment, place: LivePosition): LiveEvent {
  const { text } = segment;
  if (segment.type !== "tool_input") return { type: `${segment.type}.delta`, ...place, text };
  return { type: "tool_input.delta", ...place, tool_call_id: segment.id, tool_name: segment.name, text };
}

function isInsideCharacter(text: string, place: number): boolean {
  return place > 0 && /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(place - 1, place + 1));
}
