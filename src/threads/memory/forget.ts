// The tool with which an agent forgets what it, or its user, has had remembered.
import { z } from "zod";
import type { MemoryLayer } from "../../contracts/memory/memory-layer.ts";
import type { MemoryMetadata } from "../../contracts/memory/memory-metadata.ts";
import { isOfAgent } from "../../memory/authority.ts";
import { isWritable } from "../../memory/covers.ts";
import { type Tool, tool } from "../tool.ts";
import { memoryName } from "./memory-name.ts";
import { badName, refused, scopesIn, type ToolMemory, toolMemory } from "./tool-memory.ts";

export function forgetTool(layers: readonly [MemoryLayer, ...MemoryLayer[]]): Tool {
  return tool({
    name: "memory/forget",
    description: "Forgets for good what was remembered under a name.",
    inputSchema: z.object({ name: z.string().min(1), layer: z.enum(layers).optional() }),
    idempotent: true,
    repeatable: true,
    write: true,
    execute: async (input, context) => await forget(await toolMemory(context), layers, input),
  });
}

type Given = { readonly name: string; readonly layer?: MemoryLayer | undefined };

async function forget(of: ToolMemory, layers: readonly MemoryLayer[], given: Given) {
  const name = memoryName(given.name);
  if (name === undefined) return badName();
  const { memory, scope } = of;
  for (const place of scopesIn(of, layers, given.layer, name)) {
    const { exists, metadata } = await memory.store.read(place);
    if (!exists) continue;
    if (!isWritable(memory, place.layer, name) || !mayGo(metadata)) {
      return refused("memory_not_writable", `Agents may not forget "${name}" in the layer ${place.layer}.`);
    }
    if (memory.ours) await scope.buffer.write({ write: "memory_gone", scope: place });
    else await memory.store.delete(place);
    return { forgotten: name, layer: place.layer };
  }
  return { forgotten: null };
}

/** What a user has said, too: a wish to be forgotten is for an agent to fulfil. What others have written is theirs. */
function mayGo(metadata: MemoryMetadata | null): boolean {
  return isOfAgent(metadata) || metadata?.source_type === "user_asserted";
}
