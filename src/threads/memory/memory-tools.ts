// The tools with which agents remember. They stand in an agent's list like any other tool, and go through the same gate.
import { holdfastError } from "../../contracts/error.ts";
import * as memoryLayer from "../../contracts/memory/memory-layer.ts";
import type { Tool } from "../tool.ts";
import { forgetTool } from "./forget.ts";
import { recallTool } from "./recall.ts";
import { rememberTool } from "./remember.ts";

type MemoryLayer = memoryLayer.MemoryLayer;

export type MemoryToolsOptions = {
  /**
   * Where agents may write, the first one first; `principal` and `user` unless given, which no other user ever sees. What
   * is remembered in the layer `agent` is shown to whoever talks to the agent next.
   */
  readonly layers?: readonly MemoryLayer[];
};

/** `memory/remember`, `memory/recall` and `memory/forget`. Throws `invalid_argument` for a layer that there is not. */
export function memoryTools({ layers = ["principal", "user"] }: MemoryToolsOptions = {}): readonly Tool[] {
  const [first, ...others] = layers;
  if (first === undefined || layers.some((layer) => memoryLayer.normalize(layer) !== layer)) {
    throw holdfastError("invalid_argument", "layers must name one of the six layers, or several");
  }
  const named = [first, ...others] as const;
  return [rememberTool(named), recallTool(named), forgetTool(named)];
}
