// What the person behind a thread has agreed to, asked at the moment it matters: it may have been taken back since.
import type { ConsentDecision, ConsentOperation } from "../../contracts/trust/consent.ts";
import { decision } from "../../contracts/trust/consent.ts";
import type { Host } from "../host.ts";
import { consentContext, subjectOf } from "../subject.ts";

type Asked = { readonly threadId: string; readonly agent: string };

/** The decision, to be stored beside whatever it allows. A policy that fails has not agreed. */
export async function decideConsent(
  { agents, stores, trust }: Pick<Host, "agents" | "stores" | "trust">,
  { threadId, agent: slug }: Asked,
  operation: ConsentOperation,
): Promise<ConsentDecision> {
  const agent = agents.get(slug);
  if (!agent) return decision({ allowed: false, operation, reason: "agent_unknown" });
  const subject = subjectOf(agent, await stores.subjects.get(threadId));
  try {
    const decided = await trust.consent(operation, consentContext(slug, subject));
    return decision({ ...decided, operation, allowed: decided.allowed === true });
  } catch {
    return decision({ allowed: false, operation, reason: "policy_failed" });
  }
}
