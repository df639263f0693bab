// Which models are asked for a prompt: those that were made ready for it, or for the agent that it is the only prompt of.
import type { ReadyModel } from "../../models/model-choice.ts";
import type { Cast } from "../cast/cast.ts";
import type { Host } from "../host.ts";

export function modelsOf({ models }: Host, { agent, prompt }: Cast): readonly ReadyModel[] {
  return models.get(prompt.name === agent.slug ? agent.slug : modelKey(prompt.name)) ?? [];
}

/** Prompts and agents have their names from one list, but a prompt of an agent in short form has that agent's. */
export function modelKey(prompt: string): string {
  return `prompt ${prompt}`;
}
