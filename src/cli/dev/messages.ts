// What `holdfast dev` and the process that serves for it tell each other: load, then serve, then reload any number of times,
// then end.
import type { Listening } from "../listening.ts";
import type { Served } from "../what-is-served.ts";

/** What is to be served, and where. */
export type DevTask = {
  readonly config?: string;
  readonly data?: string;
  readonly listening: Listening;
};

export type ToServer =
  /** `tries`: whether all that can be wrong is to be found out before the database is touched. */
  | { readonly type: "load"; readonly task: DevTask; readonly tries: boolean }
  /** The database is free. */
  | { readonly type: "serve" }
  /** The gateway is to read its configuration again. */
  | { readonly type: "reload" }
  | { readonly type: "end" };

export type FromServer = LoadedMessage | RefusedMessage | ServingMessage | ReloadedMessage;

export type LoadedMessage = {
  readonly type: "loaded";
  /** Where the project came from; without, it is the tour's. */
  readonly config?: string;
  /** The files whose change makes another project of it. */
  readonly files: readonly string[];
};

export type RefusedMessage = {
  readonly type: "refused";
  readonly files: readonly string[];
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
};

export type ReloadedMessage = { readonly type: "reloaded"; readonly text: string };

export type ServingMessage = Served & { readonly type: "serving" };
