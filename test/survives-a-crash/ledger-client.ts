// The ledger as those see it who act on the world: tools, models and clients in processes that may die at any moment.
import type { Arrival } from "./effect-ledger.ts";

export type LedgerClient = {
  /** Does something in the world outside: it has happened once this resolves, and perhaps before. */
  effect(arrival: Arrival): Promise<void>;
  /** How often an effect has arrived under this key. */
  count(key: string): Promise<number>;
  note(name: string): Promise<void>;
  noted(name: string, signal?: AbortSignal): Promise<void>;
};

export function openLedger(url: string): LedgerClient {
  async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${url}/${path}`, init);
    return await response.json();
  }

  return {
    async effect(arrival) {
      await ask("effects", { method: "POST", body: JSON.stringify(arrival) });
    },
    async count(key) {
      const { count } = (await ask(`effects/${encodeURIComponent(key)}`)) as { count: number };
      return count;
    },
    async note(name) {
      await ask(`notes/${encodeURIComponent(name)}`, { method: "POST" });
    },
    async noted(name, signal) {
      await ask(`notes/${encodeURIComponent(name)}`, signal ? { signal } : {});
    },
  };
}
