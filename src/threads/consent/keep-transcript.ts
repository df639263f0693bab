// What is said on a thread is kept beyond it only with the consent of who it is said with: as a session, in the commit that
// writes it, beside the decision that allowed it.
import { decide } from "../../contracts/trust/consent.ts";
import type { Batch } from "../batch.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import type { Subject } from "../subject.ts";
import type { ThreadRun } from "../thread-run.ts";
import { decideConsent } from "./decide-consent.ts";

/** A thread that is nowhere in particular keeps its sessions here. */
const SOMEWHERE = { workspace_type: "site", workspace_id: "default" };

/**
 * Adds to a commit what keeps the messages from `from` on. `run`: the one that has ended, if any. Where nobody was asked
 * nothing is kept, and nothing is looked up.
 */
export async function keepTranscript(
  host: Host,
  held: HeldThread,
  batch: Batch,
  from: number,
  run?: ThreadRun,
): Promise<void> {
  const { subject, id, agent } = held;
  const isUnasked = host.trust.consent === decide && subject.consent.store_transcript === undefined;
  if (isUnasked || batch.nextMessage === from) return;
  // What was changed is followed whatever was agreed to since: only to add something takes consent.
  if (batch.messages.some(({ supersedes }) => supersedes !== null)) {
    batch.writes.push({ write: "transcript_changed", thread_id: id, from });
  }
  // Read first: what is taken back after this keeps the commit from storing anything.
  const { consent: if_consent = null } = (await host.stores.subjects.get(id)) ?? {};
  const consent = await decideConsent(host, { threadId: id, agent }, "store_transcript");
  if (run) batch.notes.push({ type: "consent_decided", metadata: { ...consent } });
  if (!consent.allowed) return;
  batch.writes.push({
    write: "transcript",
    ...{ session_id: id, thread_id: id, run_from: from, run_to: batch.nextMessage, if_consent },
    session: {
      ...(subject.workspace ?? SOMEWHERE),
      ...ownerOf(subject),
      ...modelOf(run, held),
      agent_slug: agent,
      title: held.thread.key,
      context: subject.context,
      consent: JSON.stringify(consent),
      token_id: subject.principal.token_id,
      expires_after: null,
    },
  });
}

function ownerOf({ owner, principal }: Subject) {
  const { type: owner_type = "system", key: owner_key = "0" } = owner ?? {};
  const { audience_id } = principal;
  return { owner_type, owner_key, audience_id, user_id: owner_type === "user" ? principal.acting_user_id : 0 };
}

/** Who answered last, and under which name the provider knows of it. */
function modelOf(run: ThreadRun | undefined, { state }: HeldThread) {
  if (!run) return { provider: "", model: "" };
  const { name = "" } = run.models[state?.postponed?.model ?? 0] ?? {};
  const at = name.indexOf("/");
  const { response_id, provider_id, model_id } = run.working.run.request_metadata;
  return {
    provider: typeof provider_id === "string" ? provider_id : name.slice(0, Math.max(0, at)),
    model: typeof model_id === "string" ? model_id : name.slice(at + 1),
    // The provider's word is about the last answer, or about none.
    provider_response_id: typeof response_id === "string" ? response_id : null,
  };
}
