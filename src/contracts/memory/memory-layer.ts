// Where a source of memories belongs: to a workspace, an agent, a user and so on.
import { cleanWord } from "../context/clean-name.ts";

const memoryLayers = ["workspace", "agent", "user", "principal", "network", "shared"] as const;

export type MemoryLayer = (typeof memoryLayers)[number];

/** The layer that a text names, else the one that `fallback` names, else `workspace`. */
export function normalize(value: unknown, fallback?: unknown): MemoryLayer {
  return layerOf(value) ?? layerOf(fallback) ?? "workspace";
}

function layerOf(value: unknown): MemoryLayer | undefined {
  const word = typeof value === "string" ? cleanWord(value) : undefined;
  return memoryLayers.find((layer) => layer === word);
}
