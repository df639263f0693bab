// The versioned result of a run, from where it stands and what it gathered.
import type { ConversationResult } from "../contracts/conversation/result.ts";
import * as conversationResult from "../contracts/conversation/result.ts";
import { seal, type UnknownMap } from "../contracts/json.ts";
import type { State } from "./state.ts";
import type { RunContent, Working } from "./working.ts";

/** The result of a run that came to its end, whatever the reason. */
export function assembleResult(state: State, working: Working): ConversationResult {
  return conversationResult.normalize({
    ...gathered(state, working),
    ...(state.stops.failure ? failed(state, working.run) : ended(state, working.run)),
  });
}

function gathered(state: State, { transcript, run }: Working): UnknownMap {
  return {
    messages: transcript,
    // The run is over: nothing is added any more, so the lists themselves can be handed out.
    tool_execution_results: seal(run.executions),
    tool_events: seal(run.tool_events),
    tool_audit_events: seal(run.audits),
    events: seal(run.events),
    turn_count: state.turn,
    final_content: conversationResult.finalContent(transcript),
    usage: state.usage,
    request_metadata: run.request_metadata,
  };
}

function failed({ stops }: State, { failure, provider_diagnostics }: RunContent): UnknownMap {
  // A provider that reports its failure has diagnostics to give, if only none; one that broke off has not.
  return { status: "failed", completed: false, failure, ...(stops.failure === "reported" && { provider_diagnostics }) };
}

function ended(state: State, run: RunContent): UnknownMap {
  return {
    metadata: run.metadata,
    provider_diagnostics: run.provider_diagnostics,
    structured_output_diagnostics: run.structured_output?.diagnostics ?? {},
    ...(run.structured_output && { structured_output: run.structured_output.parsed }),
    completed: Object.keys(state.stops).length === 0,
    ...stopped(state, run),
  };
}

/** Several things may have stopped a run at once; the later ones here are the more telling. */
function stopped({ stops }: State, run: RunContent): UnknownMap {
  return {
    ...(stops.budget !== undefined && { status: "budget_exceeded", budget: stops.budget }),
    ...(stops.stalled && { status: "stalled", stalled: stops.stalled }),
    ...(stops.approval && { status: "approval_required", approval_required: run.approval }),
    ...(stops.pending && { status: "runtime_tool_pending", runtime_tool_pending: run.pending }),
    ...(stops.interrupted && { status: "interrupted", interrupted: run.interrupted }),
  };
}
