// Where an export is not what was written.

export type Broken = {
  /** The thread, where it is about one that can be named. */
  readonly thread?: string;
  /** `missing_thread`: it is not there, or should not be, and nobody who has the key deleted it. */
  readonly place: "event" | "message" | "checkpoint" | "manifest" | "missing_thread";
  /** The number of the event, of the message, or of the checkpoint. */
  readonly seq?: number;
  readonly detail: string;
};

/** Thrown while looking, and caught by whoever looks: what was found. */
export class Found {
  readonly broken: Broken;

  constructor(broken: Broken) {
    this.broken = broken;
  }
}

export function check(holds: boolean, broken: () => Broken): asserts holds {
  if (!holds) throw new Found(broken());
}
