// The tool with which an agent keeps something beyond the thread.
import { z } from "zod";
import type { MemoryLayer } from "../../contracts/memory/memory-layer.ts";
import { withDefaults } from "../../contracts/memory/memory-metadata.ts";
import type { MemoryScope } from "../../contracts/memory/memory-scope.ts";
import { isOfAgent } from "../../memory/authority.ts";
import { isWritable } from "../../memory/covers.ts";
import { subjectName, writeMemoryText } from "../../memory/memory-text.ts";
import { type Tool, tool } from "../tool.ts";
import { memoryName } from "./memory-name.ts";
import { badName, layerMeanings, refused, scopesIn, type ToolMemory, toolMemory } from "./tool-memory.ts";

const LONGEST_CONTENT = 8_000;

export function rememberTool(layers: readonly [MemoryLayer, ...MemoryLayer[]]): Tool {
  const kept = layers.map((layer) => `${layer}: ${layerMeanings[layer]}`).join("; ");
  return tool({
    name: "memory/remember",
    description: `Keeps a short text beyond this conversation; a text of the same name is replaced. Layers: ${kept}.`,
    inputSchema: z.object({
      name: z.string().min(1).describe("Under which it is found again, such as answers/tone."),
      content: z.string().min(1).max(LONGEST_CONTENT),
      about: z
        .string()
        .optional()
        .describe("What it settles, such as tone: of memories about the same only one holds."),
      layer: z.enum(layers).optional(),
    }),
    idempotent: true,
    repeatable: true,
    write: true,
    execute: async (input, context) => await remember(await toolMemory(context), layers, input),
  });
}

type Given = {
  readonly name: string;
  readonly content: string;
  readonly about?: string | undefined;
  readonly layer?: MemoryLayer | undefined;
};

async function remember(of: ToolMemory, layers: readonly MemoryLayer[], given: Given) {
  const name = memoryName(given.name);
  if (name === undefined) return badName();
  const [scope] = scopesIn(of, layers, given.layer, name);
  if (!scope) return refused("memory_layer_unavailable", "There is no user here whose memory this could be.");
  const { memory } = of;
  const before = await memory.store.read(scope);
  if (!isWritable(memory, scope.layer, name) || (before.exists && !isOfAgent(before.metadata))) {
    return refused("memory_not_writable", `Agents may not write "${name}" in the layer ${scope.layer}.`);
  }
  const { decision: consent, from } = await of.consentTo("store_memory");
  if (!consent.allowed) {
    const error = "The user has not agreed to be remembered. Nothing was kept; do not insist.";
    return refused("consent_denied", error, consent);
  }
  const about = given.about === undefined ? null : subjectName(given.about);
  const content = writeMemoryText({ content: given.content, about, kind: null });
  const metadata = metadataOf(of, before.metadata?.created_at);
  if (memory.ours) {
    const allowed = { consent: JSON.stringify(consent), if_consent: { thread_id: of.scope.thread.id, consent: from } };
    await of.scope.buffer.write({ write: "memory", scope, content, metadata, ...allowed });
    return remembered(scope);
  }
  const ifMatch = before.exists ? before.hash : null;
  const { success } = await memory.store.write(scope, content, { metadata, consent, ifMatch });
  return success ? remembered(scope) : refused("memory_not_writable", `"${name}" could not be kept.`);
}

function remembered({ filename: name, layer }: MemoryScope) {
  return { remembered: name, layer };
}

/** An agent infers: what it was told by a user or a page is its own reading of that. */
function metadataOf({ scope, subject, memory }: ToolMemory, createdAt: number | undefined) {
  const { agent_id, user_id, workspace } = subject;
  return withDefaults(
    {
      source_type: "agent_inferred",
      source_ref: `thread:${scope.thread.id}`,
      ...(user_id !== 0 && { created_by_user_id: user_id }),
      created_by_agent_id: agent_id,
      workspace,
      ...(createdAt !== undefined && { created_at: createdAt }),
    },
    memory.now(),
  );
}
