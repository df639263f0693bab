// How many calls of one provider's models this process makes at the same time. Whoever comes when there is no place waits
// in line; whoever does not want to wait any more leaves it.
import type { Model } from "./model.ts";
import type { ReadyModel } from "./model-choice.ts";

/** By the word before the stroke in a model's name: `openai` for `openai/gpt-5`. */
export type ProviderCaps = Readonly<Record<string, number>>;

/** Models that keep to the caps, whoever asks them: those that are made by one function share its places. */
export function cappingModels(caps: ProviderCaps): (models: readonly ReadyModel[]) => readonly ReadyModel[] {
  const lines = new Map(Object.entries(caps).map(([provider, most]) => [provider, createLine(most)]));
  return (models) =>
    models.map((model) => {
      const line = lines.get(model.name.split("/")[0] ?? "");
      return line ? { ...model, ask: capped(model.ask, line) } : model;
    });
}

function capped(ask: Model, line: Line): Model {
  return async (messages, context, options) => {
    const leave = await line.enter(options.signal);
    // A model that does not listen must not keep its place for ever: nobody waits for what it says any more.
    options.signal?.addEventListener("abort", leave, { once: true });
    try {
      options.signal?.throwIfAborted();
      return await ask(messages, context, options);
    } finally {
      options.signal?.removeEventListener("abort", leave);
      leave();
    }
  };
}

type Line = {
  /** Resolves when there is a place, with what gives it back. Rejects with the signal's reason. */
  enter(signal: AbortSignal | undefined): Promise<() => void>;
};

function createLine(most: number): Line {
  let taken = 0;
  const waiting = new Set<() => void>();

  /** Gives the place back once, to whoever waits the longest. */
  function place(): () => void {
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      const [next] = waiting;
      if (!next) taken--;
      else next();
    };
  }

  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (taken < most) {
        taken++;
        return place();
      }
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          waiting.delete(go);
          signal?.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = () => {
          waiting.delete(go);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", giveUp, { once: true });
        waiting.add(go);
      });
      return place();
    },
  };
}
