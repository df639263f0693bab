// The request that a parked call leaves for somebody outside.
import type { NewRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { State } from "../../loop/state.ts";
import type { Working } from "../../loop/working.ts";
import { type Cast, toolOf } from "../cast/cast.ts";
import type { Sealing } from "../secrets/sealing.ts";

/** What is stored, and what may be shown of it. */
export type Opened = { readonly request: NewRequest; readonly shown: JsonMap };

/** The whole of it is sealed; what is shown has the parameters as the transcript has them. */
export function requestOf(state: State, working: Working, cast: Cast, sealing: Sealing): Opened {
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
    ...(isApproval && { summary: whole.summary ?? "", preview: whole.preview ?? null }),
  });
  const waitMs = tool?.waitMs ?? (isApproval ? agent.approvalWaitMs : undefined);
  return {
    shown,
    request: {
      id: waiting.request_id,
      call: waiting.call,
      kind: isApproval ? "approval" : isOfChild(whole) ? "child" : "client_tool",
      tool_name,
      shown: JSON.stringify(shown),
      sealed: sealing.seal(JSON.stringify(whole), waiting.request_id),
      binding: bindingOf(working, waiting.request_id, sealing),
      expires_after: waitMs === undefined ? null : waitMs * 1000,
    },
  };
}

/** Ties a request to everything the call will run with: two calls may differ only in what nobody is shown. */
export function bindingOf({ call }: Working, requestId: string, sealing: Sealing): string {
  if (!call) throw new Error("No call is open.");
  const { prepared, name, parameters } = call;
  const exact = prepared.ready ? prepared.tool_call : { tool_name: name, parameters };
  return sealing.bind({ tool_name: exact.tool_name, parameters: exact.parameters }, requestId);
}

/** True when a child thread brings the result. */
function isOfChild({ metadata }: JsonMap): boolean {
  return isMap(metadata) && metadata.waits_for === "child";
}

function approvalPayload(envelope: JsonMap | null): JsonMap | null {
  return isMap(envelope?.payload) ? (envelope.payload as JsonMap) : null;
}
