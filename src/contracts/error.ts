// Everything Holdfast throws is one of these: a stable code to match on, a sentence, and what to do about it.

const catalogue = {
  aborted: "The abort signal you passed has fired; ask again when you want the answer.",
  not_json: "Pass plain JSON values: no cycles, no bigints, at most 512 levels deep.",
  invalid_ai_message_envelope:
    "Pass { role, content } or an agents-api.message envelope of version 1 with one of its nine types.",
  invalid_ai_compaction_item: "Give the item a type and content; its metadata and boundary are maps.",
  invalid_markdown_section_item: "Pass items of markdownSections.parse, or of the same types with a heading_line.",
  invalid_markdown_section_pointer: "Name the place the sections went to, and a heading that is not blank.",
  invalid_agent_conversation_request: "Correct the field that is named; every tool needs a valid declaration.",
  invalid_agent_workspace_scope: "Name a workspace by a type such as site and an id that is not blank.",
  invalid_agent_conversation_result: "Return the field that is named in the shape of agents-api.conversation-result.",
  invalid_agent_conversation_loop: "Correct the option that is named, or what the turn runner is and returns.",
  invalid_agent_structured_output_request: "Ask for structured output with a JSON schema, without tools or a stream.",
  invalid_agent_provider_turn_request: "Correct the tool declaration that is named.",
  invalid_agent_provider_turn_result: "Correct the field of the provider's answer that is named.",
  script_ended: "Give the script an answer for every time the model is asked, or let it be asked less often.",
  provider_turn_failed:
    "Read the provider's error in the cause; an expired key, quota or unknown model is settled there.",
  invalid_runtime_tool_declaration:
    "A client tool is named client/<slug>, has a description, executor client and scope run.",
  invalid_server_tool_declaration: "A server tool is named <namespace>/<slug> and states its source and a description.",
  invalid_conversation_tool_declaration:
    "A server tool is named <namespace>/<slug> and states its source and a description.",
  invalid_parameter_bindings: "Bind a parameter with '<source>.<path>' or { source, path }.",
  invalid_tool_source: "Register a tool source as { slug, tools } with a slug that is not blank.",
  invalid_tool_call: "A tool call needs a tool_name and a map of parameters.",
  invalid_tool_execution_result: "A tool result needs the tool_name it belongs to.",
  invalid_runtime_tool_request: "A runtime tool request needs a tool_name and a tool_call_id.",
  invalid_runtime_tool_result: "Submit a result once, with the request_id of a pending request.",
  invalid_runtime_tool_timeout: "Time out a request by the request_id it was stored under.",
  invalid_runtime_tool_continuation: "Pass a continuation function that returns a map, or resume without one.",
  invalid_run_record: "A run needs a run_id, and a chat run also a session_id.",
  invalid_runtime_tool_store: "Use a store that moves a request out of pending atomically.",
  invalid_effective_agent_resolution: "Name the agent with agent_slug, or give its owner a single one.",
  runtime_profile_failed: "Read the error in the cause; a profile provider without an answer returns null.",
  invalid_ability: "Give every ability a name of its own and an execute function.",
  invalid_ai_pending_action:
    "Correct the field that is named; an action that has ended also says when and through whom.",
  invalid_ai_pending_action_status: "Use one of the five statuses that are listed, in lower case.",
  invalid_ai_approval_decision: "Decide with the word accepted or rejected, exactly as it is written here.",
  invalid_wp_agent_capability_ceiling: "Correct the field that is named; capabilities are given as a list of names.",
} as const satisfies Record<string, string>;

/** The closed set of codes; docs/errors.md has an entry for each. */
export type ErrorCode = keyof typeof catalogue;

export const errorCodes = Object.keys(catalogue) as ErrorCode[];

/** An error with a stable `code`, a `detail` that names what was wrong, and a `hint` that says what to do. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly code: ErrorCode;
  readonly detail: string;
  readonly hint: string;

  constructor(code: ErrorCode, detail: string, cause?: unknown) {
    super(`${code}: ${detail}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.detail = detail;
    this.hint = catalogue[code];
  }
}

export function holdfastError(code: ErrorCode, detail: string, cause?: unknown): HoldfastError {
  return new HoldfastError(code, detail, cause);
}

/** The words of anything that was thrown, which need not be an error and may refuse to be put into words. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "Something without words was thrown.";
  }
}
