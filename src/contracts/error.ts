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
  scenario_failed:
    "Correct the scenario until it comes to its end when nobody disturbs it; then it can be crash-tested.",
  script_ended: "Give the script an answer for every time the model is asked, or let it be asked less often.",
  summary_missing:
    "Let a model summarise that answers in words, or give the agent a summarizer of your own; nothing was left out.",
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
  unauthenticated: "Say who calls: over HTTP with a bearer token, in a program with a principal.",
  ability_forbidden: "Use a token whose ceiling and whose user have the capability that is named.",
  invalid_input: "Correct the fields that are named; the schema stands with the ability, and in /openapi.json.",
  thread_acts_with_more: "Use a thread that was opened with the same token or session, or open one of your own.",
  workspace_forbidden: "Leave the workspace out, or name one that you were let in for; a manager may name any.",
  thread_owner_missing: "Come with a token or as a user: threads belong to somebody, and everybody is nobody.",
  invalid_request: "Send HTTP/1.1 with one Host header, and either a Content-Length or a chunked body.",
  headers_too_large: "Send less in headers; a token and a few names are enough.",
  request_timeout: "Send the request in one go, over a connection that holds.",
  invalid_body: "Send a JSON object in UTF-8, at most 512 levels deep, without a field __proto__.",
  body_too_large: "Send less at once; files go to /threads/{thread_id}/content/{path}, up to their own limit.",
  unsupported_media_type: "Send the body with Content-Type: application/json.",
  route_not_found: "Look the path up in /reference, or list the operations at /abilities.",
  method_not_allowed: "Use one of the methods that the answer's Allow header lists.",
  host_not_allowed: "Call the server by its address, or start it with the name among its allowed hosts.",
  origin_not_allowed: "Start the server with the page's origin among its allowed origins, if the page is yours.",
  too_many_requests: "Wait as many seconds as the answer's Retry-After says, then go on more slowly.",
  too_many_streams: "Close a stream that is not read any more, or follow threads with fewer of them.",
  server_closing: "Ask again in a moment: another process takes over, or this one begins anew.",
  internal_error: "Tell whoever runs the server the request's id; its log has more.",
  bind_refused: "Make a token first, listen on 127.0.0.1, or choose a port that is free.",
  owner_token_exists: "Move the file away if its token is not needed any more, and start again.",
  invalid_ai_pending_action:
    "Correct the field that is named; an action that has ended also says when and through whom.",
  invalid_ai_pending_action_status: "Use one of the five statuses that are listed, in lower case.",
  invalid_ai_approval_decision: "Decide with the word accepted or rejected, exactly as it is written here.",
  pending_action_not_found: "Take the id from the list of pending actions.",
  pending_action_ended: "The first decision counts; read it with the action, resolved ones included.",
  pending_action_expired: "Nothing was applied; let the action be proposed again if it is still wanted.",
  pending_action_claimed:
    "Wait for the decision that is being applied; if its process died, look what it did and settle the action by hand.",
  pending_action_no_handler: "Pass a handler for the kind that is named; the action still waits.",
  pending_action_denied: "Let somebody decide whom the handler allows to; the action still waits.",
  pending_action_changed: "Look at the action as it is now, and decide again.",
  pending_action_failed: "Read the handler's error in the cause; the action has ended, and its record keeps the error.",
  pending_action_overtaken: "Compare what the handler did with what was noted by hand.",
  invalid_tool: "Correct the field that is named in what was passed to tool(); the tool's name stands behind it.",
  invalid_mcp_server:
    "Correct the field that is named in what was passed to mcpTools(); the server's name stands behind it.",
  mcp_unreachable:
    "Start the server, or correct its address or command; with a lock file it need not be there at the start.",
  mcp_tool_missing: "Allow a tool that the server has, by the server's own name for it.",
  invalid_agent: "Correct the field that is named in what was passed to agent(); every agent needs a slug of its own.",
  invalid_definition:
    "Correct the field that is named, or define what it refers to; the definition's kind and name stand behind it.",
  invalid_secret_key: "Give 32 random bytes as 64 hexadecimal digits or as base64; openssl rand -hex 32 prints some.",
  secret_key_missing:
    "Set HOLDFAST_SECRET_KEY for every process alike: the key that the database was begun with, or for a new one 32 random " +
    "bytes, such as openssl rand -hex 32 prints.",
  secret_key_exposed: "Take the rights of others away with chmod 600; a key that others may have read is no secret.",
  secret_key_mismatch:
    "Use the key that the database was begun with; without it what was sealed cannot be read by anybody.",
  invalid_wp_agent_capability_ceiling: "Correct the field that is named; capabilities are given as a list of names.",
  invalid_agent_context_item: "Give the item a known authority tier and a conflict kind, or none of the latter.",
  invalid_agent_execution_principal:
    "Correct the field that is named; a principal says who acts, for which agent and how.",
  invalid_agent_caller_context:
    "Correct the field or header that is named, or send none of them at the top of a chain.",
  invalid_wp_agent_token: "Correct the field that is named; a token is kept as its hash, never as the text itself.",
  token_not_found: "Take the number from the list of tokens; revoked ones are listed where that is asked for.",
  capability_unknown:
    "Correct the name, or say that it is meant so, with unchecked: a host's own words are known only where tools ask for them.",
  invalid_wp_agent_access_grant:
    "Correct the field that is named; a grant gives an agent and a role to a user or an audience.",
  invalid_agent_external_message: "Correct the field that is named; connectors and providers are named by slugs.",
  invalid_agent_bridge_client: "Correct the field that is named; a client needs a name, and a callback a whole URL.",
  invalid_agent_bridge_queue_item: "Correct the field that is named; an item needs a client, an agent and content.",
  channel_not_found: "Use the name of a channel that the project lists among its channels.",
  channel_signature_invalid: "Sign the very bytes that are sent, with the secret of the channel and the time of now.",
  channel_payload_invalid: "Send what the channel reads; what is wrong with the request is named.",
  channel_delivery_failed: "Look at what the receiver answers; the reply itself can be read in the thread.",
  bridge_client_forbidden: "Use a token whose client is the one that is named; a registration is no credential.",
  bridge_item_foreign: "Leave queue_id out, or use one that no other client has.",
  invalid_agent_identity_scope:
    "Correct the field that is named; an instance is named by an agent, an owner and a key.",
  invalid_agent_identity: "Take the number of an identity from the store; they begin at 1.",
  odd_definition: "Look at the definition that is named; everything else works meanwhile.",
  approval_forbidden:
    "Let somebody decide whom the rule about approvers names; a program says who decides as principal.",
  approval_outdated:
    "Nothing was decided. Accept it where the rules are those under which it was asked; where they are gone for good, reject it, and the model may ask again.",
  consent_denied:
    "Ask the person behind the thread, and note the answer in the consent of the thread; no consent implies another.",
  session_not_found: "Sessions are kept only with consent; take the id from the list of those that you may see.",
  invalid_argument: "Pass the argument that is named in the form that its type says.",
  invalid_guideline: "Correct the field that is named; a guideline has a known type and scope, and a workspace.",
  guideline_not_found: "List the guidelines you may see; private memory is there for its owner alone.",
  guideline_forbidden: "Let somebody act who holds the capability that is named, or ask for it.",
  guideline_conflict: "Look at the guideline as it is now, and change it again from its version.",
  guidelines_unavailable: "Ask the host, which keeps guidelines itself: the project says guidelines: false.",
  memory_not_found: "List the memories of the same layer, agent and workspace, and take the name from there.",
  memory_conflict: "Read the memory again, and write it with the hash that it has now.",
  memory_forget_unavailable: "Give the store that the host brings a forgetAll, or have the host forget them itself.",
  memory_forbidden: "Ask for what is remembered about yourself, or let somebody act who holds memory.manage.",
  thread_not_found: "Take the id from the list of threads that you may see, or open one by its key.",
  thread_key_taken: "Open the thread under another key, or with the agent that it belongs to.",
  invalid_thread_key: "Name the thread by something that stays, such as a customer or a ticket number.",
  thread_terminated: "Open a thread under another key; this one can still be read.",
  thread_stopped:
    "It is kept: let it run by continuing the thread or with another message, or take back what is queued.",
  thread_stuck:
    "Read what the process that ran it was told (onError), correct the cause, and let the thread try again: holdfast threads retry.",
  thread_busy: "Try again, best when the thread rests; nothing was changed.",
  audit_damaged:
    "Export the whole record and verify it, which names the place; somebody has changed what checkpoints were made of.",
  thread_not_stuck: "Only a thread with the status stuck needs this; any other goes on by itself.",
  invalid_model_answer: "Return { content, tool_calls: [{ name, parameters }] }, or a text alone.",
  model_unavailable:
    "Nothing to correct here: the provider was busy or out of reach for every attempt; ask again later.",
  model_answer_broken: "Ask again; if it happens often, read the provider's words in the cause or use another model.",
  model_stalled: "Ask again, name a fallback model, or give a slow model more time with stallMs.",
  model_interface_unknown:
    "Pass a model of a provider package for AI SDK 6 or later: those implement the interface v3 or v4.",
  model_refused: "Read the provider's words in the cause: a key, a model's name or a setting is settled there.",
  invalid_model:
    "Correct the field that is named; a model is a function, an AI SDK model, a name, or { model, price, … }.",
  model_name_invalid: "Write <provider>/<model>, such as openai/gpt-5 or ollama/llama3.",
  model_provider_unknown: "Name one of the providers that are listed, or pass a model object of any AI SDK package.",
  model_key_missing: "Set the variable that is named; a model that was asked for is never replaced by another one.",
  model_package_missing:
    "Install the package with the command that is given, or answer offline with HOLDFAST_MODEL=demo.",
  model_package_failed: "Read the error in the cause, and install the package in a version that is named.",
  model_not_named:
    "Set HOLDFAST_MODEL to the one you mean, such as openai/gpt-5, or to demo for answers offline; or name it in the agent.",
  model_price_missing:
    "Give every model of the agent a price: { model, price: { input, output } } in dollars per million.",
  budget_not_found: "Let the program make the budget first, with budgets.set(name, { tokens, usd }).",
  prompt_not_found:
    "Nothing has to be done: the thread goes on. Bring the prompt back first if its work is still wanted.",
  agent_not_found: "Name one from the list of agents, or define it: in the agents of the project or of createHoldfast.",
  idempotency_conflict: "Use a new key for a new write; the same key is only for repeating the same one.",
  idempotency_in_progress: "Ask again with the same key in a while; you are told what the first one came to.",
  message_cancelled: "Send it again if it is still wanted.",
  message_not_found: "Take the number from the messages of the same thread.",
  run_not_found: "Take the number from the runs of the same thread.",
  fork_not_settled:
    "Fork once a step of the thread has ended, at an event that there is and not before the first such step.",
  invalid_stream_position: "Come back with the id of the last event you saw, exactly as it was given.",
  invalid_file_path: "Pass a path below the thread's own root, such as /notes/plan.md, without backslashes.",
  file_not_found: "Take paths from the list of files of the same thread; nothing was stored or sent.",
  file_exists: "Choose a path that is free, or remove what stands there first.",
  file_is_directory: "Name a file; this is a directory, which is listed, or removed as one.",
  file_not_directory: "Name a directory; this is a file, which is read, or removed as one.",
  directory_not_empty: "Remove or move what is in the directory first.",
  file_too_large: "Keep what is larger somewhere else, and store a link to it; nothing was stored.",
  too_many_files: "Remove files that are no longer needed, or keep several in one.",
  variable_missing: "Set it for the thread, the user or the process, or give it a default in the definition.",
  definition_not_found: "Name one of those that are listed, or define it in the project or in createHoldfast.",
  tool_not_allowed: "Add the tool to the uses of the one that calls it, or leave uses out.",
  no_run: "Call this from a tool or hook while its own thread runs.",
  hook_failed: "Correct the hook that is named; what it would have changed was left as it was.",
  effect_not_found: "Take the id from the list of effects of the same thread.",
  effect_not_pending: "Cancel an effect before it begins; run it once more when it has ended.",
  subagent_too_deep: "Let agents that create each other come to an end; a tree of threads is at most 16 levels deep.",
  subagent_limit_reached: "Write to one that is live, or terminate one first; the request is kept.",
  variable_request_not_found: "Take the id from the error that the parent got; each request can be used once.",
  variables_missing: "Pass a value for every name that is listed; the request is kept.",
  invalid_variables: "Pass { env: { NAME: value } }; the request is kept.",
  request_not_found: "Take the id from the list of requests, or from the outcome of a send.",
  request_foreign: "Submit to the thread that the request belongs to.",
  request_answered: "The first answer counts; look at the request to read it.",
  request_expired: "The call was settled without an answer; let the agent ask again.",
  request_cancelled: "The run that asked was stopped; let the agent ask again.",
  invalid_answer: "Answer an approval with a decision, and a client tool with a result that fits it or an error.",
  call_not_unknown: "Take one from the list of calls of unknown outcome: no other can be settled.",
  database_too_new: "Run a version of Holdfast at least as new as the one that wrote the database last.",
  database_in_use: "Stop the process that is named, or use another file; the lock ends with that process by itself.",
  database_path_invalid: "Create the folder first, and name a file in it rather than a folder.",
  database_corrupt: "Restore the file from a backup, or name another one; Holdfast leaves it as it is.",
  database_read_only:
    "Let this process write to the file and to its folder, or connect to the server that writes and not to a copy.",
  database_full: "Free some disk space; nothing of what was refused has been stored.",
  database_unavailable: "Read the database's error in the cause, and try again once it has passed.",
  database_url_invalid:
    "Pass a URL such as postgres://user:password@host:5432/database, with special characters percent-encoded.",
  database_refused: "Correct the user, the password or the database in the URL, or give that user the right it lacks.",
  database_schema_invalid:
    "Use at most 50 lower-case letters, digits and underscores, not beginning with pg_ or a digit.",
  database_closed: "Open the database again; a driver that was closed stays closed.",
  database_moved: "Open the database that is named; this one takes no more writes.",
  database_incomplete: "Move the other database here once more: what is half there is replaced.",
  move_target_not_empty: "Name a file that does not exist yet, or a schema with nothing in it.",
  move_tables_differ: "Move the table that is named out of the schema, and move the database again.",
  move_checksum_mismatch:
    "Move again: the old database is as it was. If it happens twice, look who else writes to the new one.",
  move_overtaken: "Let one process move at a time, and let nobody open the database meanwhile; then move again.",
  backup_unsupported: "Use the tool that is named, and keep the secret key in another safe place.",
  backup_exists: "Name a file that does not exist yet; a backup never replaces anything.",
  backup_damaged: "Look whether the disk is full or failing, and make another one; nothing was kept of this one.",
  gateway_config_invalid:
    "Correct the places that are listed, each with its file, line and column; the configuration that was running stays.",
  workflow_text_too_long: "Bind the value as a whole instead of writing it into a text, or keep the text in a file.",
  workflow_spec_invalid: "Correct the places that are listed; docs/concepts/workflow-specs.md explains each code.",
  gateway_not_configured:
    "Pass createHoldfast({ gateway }) the path of a gateway.yaml, or the configuration as an object.",
  gateway_closed: "Ask again in a moment: another process takes over, or this one is started again.",
  gateway_busy:
    "Ask again later, or ask for asynchronous execution; raise api.max_concurrent_sync if the machine has room.",
  plugin_not_found:
    "List the plugins with holdfast gateway plugins; a plugin that could not be loaded is in the log with the reason.",
  plugin_command_not_found: "Use one of the commands that the plugin's manifest declares.",
  plugin_manifest_invalid: "Correct the field of the manifest that is named; the plugin is left out until then.",
  plugin_untrusted: "Keep the entry point inside its plugin folder, executable, and writable only by its owner.",
  pipeline_not_found: "List the pipelines with holdfast gateway pipelines, or add it to the configuration and reload.",
  pipeline_ambiguous: "Give the pipeline one entry step, or call it asynchronously.",
  job_not_found: "Take the id from the list of jobs; jobs are forgotten when service.job_log_retention is over.",
  job_ended: "Read what came of the job; only a job that is queued or running can be cancelled.",
  agent_run_not_found:
    "Take the id from the list of agent runs; finished runs are removed when their retention is over.",
  agent_run_ended: "Start a new run; this one is done or escalated.",
  schedule_not_found: "List the schedules with holdfast gateway schedules.",
  event_reserved:
    "Send an event of another type; events of agents and of the gateway itself are only emitted inside it.",
  invalid_event:
    "Send an event as { type, payload }, with a type that is not blank and a payload that is a JSON object.",
  invalid_template: "Close every brace, and refer to payload.<path> or context.<path>; the path has to exist.",
  invalid_predicate:
    "Give a predicate { path, op, value }, or all, any or not, at most three levels deep; compare values of one type.",
  context_conflict: "Claim the value under another path: what a pipeline carries along is never changed.",
  plugin_state_too_large: "Keep less in the plugin's state: one megabyte of JSON at most.",
  tree_too_large:
    "Look for a loop between pipelines; raise service.max_tree_jobs if the work really needs so many jobs.",
  events_too_large:
    "Emit fewer events in one answer, or answer with a shorter result: every event carries it along. Put large values into files.",
  webhook_refused:
    "Sign the exact bytes of the body with the endpoint's secret, and send a new message for every delivery.",
  context_too_large: "Claim less: the context of a pipeline instance is one megabyte of JSON at most.",
  invalid_baggage: "Claim from payload.<path> or context.<path> that is there; a namespace takes a map.",
  invalid_workflow: "Correct what is named; the ids before it say in which step of which workflow it stands.",
  invalid_step_type:
    "Correct the field that is named in what was passed to stepType(); the name of the type stands behind it.",
  workflow_step_not_found:
    "Name a step by the ids that lead to it, joined with / as in each/pack; what undoes it has .undo behind that.",
  workflow_not_found: "List the workflows with holdfast workflows list; one is registered with the option workflows.",
  workflow_inputs_invalid: "Pass what the workflow takes in; holdfast workflows show lists it.",
  workflow_key_taken: "Use another key for another start; the same key is only for repeating the same one.",
  workflow_run_not_found: "Take the id from the list of runs that you may see.",
  workflow_run_acts_with_more: "Act on the run with the token or session that started it, or start one of your own.",
  workflow_run_ended: "Start a new run, or carry a failed one on with retry.",
  workflow_run_not_failed: "Only a run that has failed is carried on; start another one with rerun.",
  workflow_run_rolled_back: "What it did was undone: start another run with rerun.",
  workflow_run_has_parent: "Act on the run that started it; its parent has gone on without it.",
  workflow_outcome_unknown:
    "Find out what the step did. Then retry with repeatUnknown, which carries it out again, or rerun from the step behind it.",
  workflow_run_stuck: "Read why with holdfast runs show; holdfast runs retry tries again once the cause is mended.",
  workflow_events_full: "Let the run take the events that wait for it, or send fewer that no step waits for.",
  workflow_reference_used:
    "Do what needs the value in a function that the workflow runs with run(…); pass the reference to it as its input.",
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

/** What to do about a code, whoever refused with it; undefined for one that is not ours. */
export function hintOf(code: string): string | undefined {
  return Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode] : undefined;
}

/** The words of anything that was thrown, which need not be an error and may refuse to be put into words. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "Something without words was thrown.";
  }
}
