// The ledger as those see it who act on the world: tools, models and clients in processes that may die at any moment.
import type { Effect, RecordedEffect } from "./effect-ledger.ts";

export type LedgerClient = {
  readonly url: string;
  /** Does something in the world outside: it has happened once this resolves, and perhaps before. */
  record(effect: Effect): Promise<RecordedEffect>;
  /** How often an effect was asked for under this key: 0 when it has not happened. */
  count(key: string): Promise<number>;
  /** Everything that has happened. */
  effects(): Promise<readonly RecordedEffect[]>;
  /** Lets those go on who wait for this note, in this and in other processes. */
  note(name: string): Promise<void>;
  /** Resolves once somebody has left this note. */
  noted(name: string, signal?: AbortSignal): Promise<void>;
};

/** The ledger that `startEffectLedger` has started, in this or in another process. */
export function openEffectLedger(url: string): LedgerClient {
  async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${url}/${path}`, init);
    if (!response.ok) throw new Error(`The ledger refused: ${await response.text()}`);
    return await response.json();
  }

  return {
    url,
    async record(effect) {
      return (await ask("effects", { method: "POST", body: JSON.stringify(effect) })) as RecordedEffect;
    },
    async count(key) {
      const { count } = (await ask(`effects/${encodeURIComponent(key)}`)) as { count: number };
      return count;
    },
    async effects() {
      return (await ask("effects")) as readonly RecordedEffect[];
    },
    async note(name) {
      await ask(`notes/${encodeURIComponent(name)}`, { method: "POST" });
    },
    async noted(name, signal) {
      await ask(`notes/${encodeURIComponent(name)}`, signal ? { signal } : {});
    },
  };
}

/** For a tool that knows no more than where the ledger is. */
export async function recordEffect(url: string, effect: Effect): Promise<RecordedEffect> {
  return await openEffectLedger(url).record(effect);
}
