// What the memory tools share: for whom they act, which layers they were made for, and how they say no.
import type { MemoryLayer } from "../../contracts/memory/memory-layer.ts";
import type { MemoryScope } from "../../contracts/memory/memory-scope.ts";
import type { ConsentDecision } from "../../contracts/trust/consent.ts";
import type { Memory } from "../../memory/memory.ts";
import type { MemorySubject } from "../../memory/memory-subject.ts";
import { scopeOfLayer } from "../../memory/scope-of-layer.ts";
import { runOptions } from "../agent.ts";
import { scopeOf, type ToolScope } from "../calls/tool-scope.ts";
import { decideConsent } from "../consent/decide-consent.ts";
import { subjectOf } from "../subject.ts";
import type { ToolContext } from "../tool.ts";
import { holdsCapability } from "../trust.ts";
import { subjectOfMemory } from "./subject-of-memory.ts";

export type ToolMemory = {
  readonly scope: ToolScope;
  readonly memory: Memory;
  readonly subject: MemorySubject;
  /** Whether whom the thread acts for has the capability that a source takes. */
  holds(capability: string): Promise<boolean>;
  /** Asked when it matters: it may have been taken back. `from`: the consent of the thread that it was decided from. */
  consentTo(
    operation: "store_memory" | "use_memory",
  ): Promise<{ readonly decision: ConsentDecision; readonly from: string | null }>;
};

export async function toolMemory(context: ToolContext): Promise<ToolMemory> {
  const scope = scopeOf(context);
  const { host, thread, cast } = scope;
  const about = { threadId: thread.id, agent: cast.agent };
  return {
    scope,
    memory: host.memory,
    subject: await subjectOfMemory(host, about),
    async holds(capability) {
      const subject = subjectOf(cast.agent, await host.stores.subjects.get(thread.id));
      return await holdsCapability(host, subject, runOptions(cast.agent), capability);
    },
    async consentTo(operation) {
      // Read before: what is taken back while it is decided is then not the same any more.
      const from = (await host.stores.subjects.get(thread.id))?.consent ?? null;
      const decision = await decideConsent(host, { threadId: thread.id, agent: cast.agent.slug }, operation);
      return { decision, from };
    },
  };
}

/** The scopes of the wanted layer, or of all the layers, as far as there are any for this subject. */
export function scopesIn(
  { subject }: ToolMemory,
  layers: readonly MemoryLayer[],
  wanted: MemoryLayer | undefined,
  filename = "",
): readonly MemoryScope[] {
  const asked = wanted === undefined ? layers : [wanted];
  return asked.flatMap((layer) => scopeOfLayer(layer, subject, filename) ?? []);
}

export function refused(error_type: string, error: string, consent?: ConsentDecision) {
  return { success: false, error, metadata: { error_type, ...(consent && { consent }) } };
}

export const badName = () => refused("invalid_memory_name", "A memory is named with letters, digits, . _ - and /.");

/** What it can be told of a layer. */
export const layerMeanings: Readonly<Record<MemoryLayer, string>> = {
  principal: "about this user, for you alone, in this place",
  user: "about this user, for all agents, everywhere",
  agent: "for you, whoever you talk to",
  workspace: "for all agents and users of this place",
  shared: "shared with everybody in this place",
  network: "for everybody everywhere",
};
