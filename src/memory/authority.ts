// How much weight a memory has. A layer says who may read it; the weight depends on who has said it.
import type { AuthorityTier } from "../contracts/context/authority-tier.ts";
import type { MemoryLayer } from "../contracts/memory/memory-layer.ts";
import type { MemoryMetadata } from "../contracts/memory/memory-metadata.ts";

const tierOfLayer: Readonly<Record<MemoryLayer, AuthorityTier>> = {
  network: "workspace_shared",
  workspace: "workspace_shared",
  shared: "workspace_shared",
  principal: "user_workspace_private",
  user: "user_global",
  agent: "agent_memory",
};

/** Of what the host itself provides: as it declares, and never a tier that governs unless it does. */
export function declaredTier(source: {
  readonly layer: MemoryLayer;
  readonly authorityTier?: AuthorityTier;
}): AuthorityTier {
  return source.authorityTier ?? tierOfLayer[source.layer];
}

/** What an agent wrote down stays an agent's memory, whichever source finds it and wherever it lies. */
export function storedTier(
  source: { readonly layer: MemoryLayer; readonly authorityTier?: AuthorityTier },
  metadata: MemoryMetadata | null,
): AuthorityTier {
  return isOfAgent(metadata) ? "agent_memory" : declaredTier(source);
}

/** Also what nobody knows the writer of. */
export function isOfAgent(metadata: MemoryMetadata | null): boolean {
  const { source_type = INFERRED, created_by_agent_id = 0 } = metadata ?? {};
  return source_type === INFERRED || created_by_agent_id !== 0;
}

const INFERRED = "agent_inferred";
