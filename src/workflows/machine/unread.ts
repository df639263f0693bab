// What a driver knows of a run and has not read yet. The machine asks for it by going on: nothing fails for it, the driver
// throws away what was changed so far, reads it, and has the machine go on anew.

export type Missing =
  /** What is known at one path. */
  | { readonly at: string }
  /** Everything below a path. */
  | { readonly below: string }
  /** The steps that can be undone. */
  | "undoable";

export class Unread extends Error {
  readonly missing: Missing;

  constructor(missing: Missing) {
    super(`Not read yet: ${JSON.stringify(missing)}.`);
    this.missing = missing;
  }
}
