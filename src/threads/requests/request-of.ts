// The request that a parked call leaves for somebody outside.
import type { NewRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isProposed, shownProposal } from "../../loop/approve.ts";
import type { State } from "../../loop/state.ts";
import type { Working } from "../../loop/working.ts";
import { type Cast, toolOf } from "../cast/cast.ts";
import type { Sealing } from "../secrets/sealing.ts";
import type { Subject } from "../subject.ts";
import { bindingOf, proposedBy } from "./binding.ts";
import { termsOf } from "./terms.ts";

/** What is stored, and what may be shown of it. */
export type Opened = { readonly request: NewRequest; readonly shown: JsonMap };

/** The whole of it is sealed; what is shown has the parameters as the transcript has them. */
export function requestOf(
  state: State,
  working: Working,
  { cast, subject, sealing }: { readonly cast: Cast; readonly subject: Subject; readonly sealing: Sealing },
): Opened {
  const { agent } = cast;
  const { waiting } = state;
  const { call, run } = working;
  if (!waiting || !call) throw new Error("Nothing is waited for.");
  const isApproval = waiting.as === "approval";
  const whole: JsonMap = (isApproval ? approvalPayload(run.approval) : run.pending) ?? {};
  const tool = call.prepared.ready ? toolOf(cast, call.prepared.tool_def.name) : undefined;
  const tool_name = call.prepared.ready ? call.prepared.tool_call.tool_name : call.name;
  const shown = snapshotMap({
    tool_name,
    tool_call_id: call.id,
    parameters: call.exposure.parameters,
    ...(isApproval && (isProposed(call) ? shownProposal(call) : shownWords(whole))),
    // What allowed a run to be handed to a person is kept beside what that person is shown.
    ...(isMap(whole.metadata) && isMap(whole.metadata.consent) && { consent: whole.metadata.consent }),
  });
  const waitMs = tool?.waitMs ?? (isApproval ? (agent.approvalWaitMs ?? LONGEST_APPROVAL_MS) : undefined);
  const asked = {
    id: waiting.request_id,
    kind: isApproval ? "approval" : isOfChild(whole) ? "child" : "client_tool",
    shown: JSON.stringify(shown),
    ...(isApproval && { terms: termsOf(agent, tool, subject) }),
  } as const;
  return {
    shown,
    request: {
      ...asked,
      call: waiting.call,
      tool_name,
      sealed: sealing.seal(JSON.stringify(whole), waiting.request_id),
      binding: bindingOf(sealing, asked, proposedBy(working)),
      expires_after: waitMs === undefined ? null : waitMs * 1000,
    },
  };
}

/** What nobody has decided within a month is forgotten: a yes must not come out of nowhere. */
const LONGEST_APPROVAL_MS = 30 * 24 * 60 * 60 * 1_000;

/** A tool that proposes something itself says itself what may be shown of it. */
function shownWords({ summary = "", preview = null }: JsonMap): JsonMap {
  return { summary, preview };
}

/** True when a child thread brings the result. */
function isOfChild({ metadata }: JsonMap): boolean {
  return isMap(metadata) && metadata.waits_for === "child";
}

function approvalPayload(envelope: JsonMap | null): JsonMap | null {
  return isMap(envelope?.payload) ? (envelope.payload as JsonMap) : null;
}
