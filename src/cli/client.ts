// How verbs reach the runtime: through the HTTP door of a server, or in this very process. Both call abilities by name.

import type { StreamEvent } from "../abilities/follow.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { ShownRunEvent } from "../workflows/operations/events.ts";

export type CallOptions = {
  /** Makes a repeat of the same write the same write. */
  readonly key?: string;
  readonly signal?: AbortSignal;
};

export type AbilitySummary = {
  readonly name: string;
  readonly title: string;
  readonly effect: string;
  readonly capability: string;
};

export interface Client {
  /** Where it is, for people: a URL or the path of a database. */
  readonly place: string;
  /** What the ability answers. Throws a `Refusal`. */
  call<Answer = JsonMap>(ability: string, input?: object, options?: CallOptions): Promise<Answer>;
  /** Every operation that can be asked for. */
  abilities(): Promise<readonly AbilitySummary[]>;
  /** The events of a thread; goes on by itself after a lost connection, without loss and without repeats. */
  follow(threadId: string, options: FollowOptions): AsyncIterable<StreamEvent>;
  /** The events of a run of a workflow until it has ended, in the same way. */
  followRun(runId: string, options: Pick<FollowOptions, "after" | "signal">): AsyncIterable<ShownRunEvent>;
  close(): Promise<void>;
}

export type FollowOptions = {
  readonly after?: string;
  /** Ends where a run ends or waits for somebody. */
  readonly untilRest?: boolean;
  readonly signal?: AbortSignal;
};
