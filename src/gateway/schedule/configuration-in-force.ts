// Whether the schedules of this process count. Processes may have loaded different configurations, while a new one is rolled out
// or because only one was reloaded: the schedules are those of the configuration that was loaded last by a process that lives.
import { createHash } from "node:crypto";
import type { ConfigurationStore, LoadedConfiguration } from "../../backend/gateway/configuration-store.ts";
import { sortedText } from "../../contracts/canonical-json.ts";
import type { Json } from "../../contracts/json.ts";
import type { Entry } from "./entry.ts";

export type OwnConfiguration = {
  /** Another one with every load. */
  readonly source: object;
  readonly entries: readonly Entry[];
};

/** The returned function makes known what is loaded here, and tells whether it is in force. */
export function createStanding(
  configurations: ConfigurationStore,
  worker: string,
): (own: OwnConfiguration) => Promise<boolean> {
  let loaded: (LoadedConfiguration & { readonly source: object }) | undefined;
  return async ({ source, entries }) => {
    if (loaded?.source !== source) {
      loaded = { source, digest: digestOf(entries), number: await configurations.nextNumber() };
    }
    const { digest, number } = loaded;
    // Each time: the row of a worker that was taken for dead for a moment is a new one.
    await configurations.put(worker, { digest, number });
    return (await configurations.newest())?.digest === digest;
  };
}

/** The same for configurations with the same schedules, wherever they are written. */
function digestOf(entries: readonly Entry[]): string {
  const shown = entries.map(({ schedule: { place: _, ...schedule }, plugin, settings, problem }) => {
    const { circuit_breaker, max_outstanding_polls } = settings;
    return { plugin, schedule, circuit_breaker, max_outstanding_polls, problem };
  });
  return createHash("sha256")
    .update(sortedText(shown as unknown as Json))
    .digest("hex");
}
