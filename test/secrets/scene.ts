// A runtime with secrets planted all over it, and the search for them in whatever was stored or told.
import type { Holdfast, HoldfastOptions } from "../../src/holdfast.ts";
import type { Model } from "../../src/models/model.ts";
import type { ScriptedStep } from "../../src/models/scripted/scripted-model.ts";
import type { Agent } from "../../src/threads/agent.ts";
import type { World } from "../databases.ts";
import { createPlants, type Plants } from "./plants.ts";
import { printing, recorded, reported, shown, stored, type Told } from "./whatever-is-told.ts";

export type Scene = Plants & {
  readonly world: World;
  /** A model that looks around each time it is asked: what is stored in the middle of a run counts too. */
  speaking(...script: readonly ScriptedStep[]): Model;
  /** A runtime that prints its errors, as it does when nobody says otherwise, and reports them too. */
  open(agents: Agent | readonly Agent[], options?: Partial<HoldfastOptions>): Promise<Holdfast>;
  /** Looks around now. */
  look(): Promise<void>;
  /** Something else that somebody was told. */
  hear(place: string, told: unknown): void;
  /** Where which secret was found, up to now: place by place, and nothing for the places where none was. */
  leaks(holdfast: Holdfast): Promise<Readonly<Record<string, readonly string[]>>>;
};

export function createScene(world: World): Scene {
  const plants = createPlants();
  const printed = printing();
  const errors: unknown[] = [];
  const looks: (() => Told)[] = [];

  async function look(): Promise<void> {
    const now = await stored(world);
    looks.push(() => now);
  }

  return {
    ...plants,
    world,
    look,
    speaking(...script) {
      const { model, asked } = recorded(...script);
      looks.push(asked);
      return async (...given) => {
        await look();
        return await model(...given);
      };
    },
    async open(agents, options = {}) {
      const onError = (error: unknown, threadId: string) => {
        errors.push(error);
        console.error(error, threadId);
      };
      return await world.open(agents, { onError, ...options });
    },
    hear(place, told) {
      const text = JSON.stringify(told);
      looks.push(() => ({ [place]: text }));
    },
    async leaks(holdfast) {
      await look();
      const views = await shown(holdfast);
      const found: Record<string, string[]> = {};
      for (const told of [...looks.map((read) => read()), views, reported(errors), printed()]) {
        for (const [place, text] of Object.entries(told)) {
          for (const where of plants.foundIn(text)) {
            found[place] ??= [];
            if (!found[place].includes(where)) found[place].push(where);
          }
        }
      }
      return found;
    },
  };
}
