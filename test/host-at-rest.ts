// What code outside of any run is lent, on a real database of its own: for effects and endpoints without a runtime.
import { onTestFinished } from "vitest";
import { openStores } from "../src/backend/sql/open-stores.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import type { EffectDefinition } from "../src/threads/definitions/effect.ts";
import type { Endpoint } from "../src/threads/definitions/endpoint.ts";
import type { Host } from "../src/threads/host.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import { createSwitches } from "../src/threads/switches.ts";

/** A host with one thread, which was created with `{ topic: "rain" }`, and what was reported to it. */
export async function hostAtRest({
  effects = [],
  endpoints = [],
}: {
  readonly effects?: readonly EffectDefinition[];
  readonly endpoints?: readonly Endpoint[];
} = {}) {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  const sealing = createSealing(Buffer.alloc(32, 7));
  const stores = await openStores(driver, { keyFingerprint: sealing.fingerprint });
  const reported: unknown[] = [];
  const none = new Map();
  const registry = {
    ...{ agents: none, prompts: none, models: none, tools: none, hooks: none },
    effects: new Map(effects.map((effect) => [effect.name, effect])),
    promptOf: () => undefined,
  };
  const host = {
    ...{ stores, sealing, registry, endpoints, agents: none, env: {} },
    switches: await createSwitches({
      store: stores.switches,
      isShared: false,
      report: (error) => reported.push(error),
    }),
    report: (error: unknown) => reported.push(error),
    onCrashPoint: async () => undefined,
    now: Date.now,
  } as unknown as Host;
  const id = crypto.randomUUID();
  const { thread } = await stores.threads.open({
    ...{ id, key: id, agent: "support", budget: null, state_version: 1, hash: "first" },
    ...{ parent_id: null, user_id: null, tags: [], child: null, child_status: null },
    arguments: sealing.seal(JSON.stringify({ topic: "rain" }), id),
  });
  return { host, stores, sealing, thread, reported };
}
