// The gateway as the plugins that run inside it see it.
import type { Snapshot } from "./snapshot.ts";

/** What plugins that run inside the gateway may ask of it. */
export type RunningGateway = {
  readonly snapshot: () => Snapshot;
};
