// Consent that is given or taken back while a thread lives. It holds from the next moment at which somebody asks.

import type { StoredSubject } from "../../backend/subject-store.ts";
import { system } from "../../contracts/trust/principal.ts";
import type { Agent } from "../agent.ts";
import type { Host } from "../host.ts";
import { type Consent, readConsent, stored, subjectOf } from "../subject.ts";
import { threadNotFound } from "../thread-errors.ts";

/** The subject of a thread of which nobody has said whom it acts for. */
function unstated(agent: Agent | undefined, slug: string): StoredSubject {
  if (agent) return stored(subjectOf(agent, null));
  return stored({ principal: system(slug), workspace: null, owner: null, context: "chat", consent: {} });
}

/** How often somebody else may be faster. */
const MOST_TRIES = 20;

/** The consent as it stands, after what is given was changed. Throws `thread_not_found` and `invalid_argument`. */
export async function changeConsent(host: Host, threadId: string, given: Consent = {}): Promise<Consent> {
  const changes = readConsent(given);
  // What is taken back, subagents must not do either; what is given is given to this thread alone.
  const takenBack = Object.entries(changes).flatMap(([operation, isAgreed]) => (isAgreed ? [] : [operation]));
  const { subjects, threads } = host.stores;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const thread = await threads.get(threadId);
    if (!thread) throw threadNotFound(threadId);
    // The agent need not be known here: whoever takes something back must not be told to go elsewhere.
    const row = (await subjects.get(threadId)) ?? unstated(host.agents.get(thread.agent), thread.agent);
    const consent = { ...(JSON.parse(row.consent) as Consent), ...changes };
    if (Object.keys(changes).length === 0) return consent;
    await host.onCrashPoint("before consent");
    const outcome = await subjects.changeConsent(threadId, row, JSON.stringify(consent), takenBack);
    await host.onCrashPoint("after consent");
    if (outcome === "changed") return consent;
    if (outcome === "not_found") throw threadNotFound(threadId);
  }
  throw new Error(`The consent of thread ${threadId} changes all the time.`);
}
