// The steps of a run that can be undone. Those of one commit are known; the others are read once something has to be undone.
import { Unread } from "../machine/unread.ts";
import type { Undoable } from "../machine/working.ts";

export class LazyUndoable implements Undoable {
  /** How many there were so far. */
  commits = 0;
  /** Those of earlier commits; undefined as long as they were not read. */
  #stored: readonly string[] | undefined;
  /** Those of the next commit. */
  #added: string[] = [];
  #before: { readonly stored: readonly string[] | undefined; readonly added: readonly string[] } | undefined;

  get length(): number {
    return this.#all().length;
  }

  /** Takes all of them out, to be added again as far as they stay. */
  set length(_none: 0) {
    [this.#stored, this.#added] = [[], []];
  }

  at(position: number): string | undefined {
    return this.#all().at(position);
  }

  push(path: string): void {
    this.#added.push(path);
  }

  [Symbol.iterator](): ArrayIterator<string> {
    return this.#all()[Symbol.iterator]();
  }

  /** From here on changes can be taken back. */
  begin(): void {
    this.#before = { stored: this.#stored, added: [...this.#added] };
  }

  /** Keeps what was changed since `begin`, or forgets it. */
  end(isKept: boolean): void {
    if (this.#before && !isKept) [this.#stored, this.#added] = [this.#before.stored, [...this.#before.added]];
    this.#before = undefined;
  }

  /** Those that are stored. */
  take(stored: readonly string[]): void {
    this.#stored ??= stored;
  }

  /** What was added is stored now. */
  committed(): void {
    if (this.#stored && this.#added.length > 0) this.#stored = [...this.#stored, ...this.#added];
    this.#added = [];
    this.commits++;
  }

  #all(): readonly string[] {
    if (!this.#stored) throw new Unread("undoable");
    return this.#added.length === 0 ? this.#stored : [...this.#stored, ...this.#added];
  }
}
