// How every field that an operation takes is filled in tests that call all of them. A field that nobody has told about here
// fails those tests: whoever adds one says whether it names something of somebody's.
import type { Operation } from "../../src/abilities/operation.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { fieldsOf } from "./ask-operation.ts";
import type { Belongings } from "./two-tenants.ts";

/** `names`: what it names of somebody's, and something like it that nobody has. */
type Field =
  | { readonly kind: "names"; readonly of: (theirs: Belongings) => unknown; readonly nothing: unknown }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "unset" };

const NOBODY = 987_654_321;

const names = (of: (theirs: Belongings) => unknown, nothing: unknown = "nothing-of-anybodys"): Field => ({
  ...{ kind: "names", of, nothing },
});
const value = (given: unknown): Field => ({ kind: "value", value: given });
const unset: Field = { kind: "unset" };

const thread = names((theirs) => theirs.thread_id);
const chat = names((theirs) => theirs.chat_id);
const client = names((theirs) => theirs.client.request_id);
const clientThread = names((theirs) => theirs.client.thread_id);
const approval = names((theirs) => theirs.approval.request_id);
const approvalThread = names((theirs) => theirs.approval.thread_id);
const effectThread = names((theirs) => theirs.effect.thread_id);
const variables = names((theirs) => theirs.variables.request_id);
const bridgeClient = names((theirs) => theirs.client_id);
const memory = names((theirs) => theirs.memory);
const user = names((theirs) => theirs.user_id, NOBODY);

/** Fields that mean the same wherever they stand. */
const fields: Readonly<Record<string, Field>> = {
  ...{ thread_id: thread, thread, parent: thread, user_id: user, owner_user_id: user, request_id: client },
  ...{ action_id: approval, parent_thread_id: names((theirs) => theirs.variables.thread_id) },
  session_id: names((theirs) => theirs.session_id),
  session_owner: names((theirs) => theirs.owner, { type: "token", key: String(NOBODY) }),
  run_id: names((theirs) => theirs.run_id),
  effect_id: names((theirs) => theirs.effect.effect_id),
  entry_id: names((theirs) => theirs.queued.entry_id),
  path: names((theirs) => theirs.file, "nothing-of-anybodys.txt"),
  id: names((theirs) => theirs.guideline_id),
  token_id: names((theirs) => theirs.issued_token, NOBODY),
  session_ids: names((theirs) => [theirs.bridge.session_id], ["nothing-of-anybodys"]),
  queue_ids: names((theirs) => [theirs.bridge.queue_id], ["nothing-of-anybodys"]),

  ...{
    agent: value("helper"),
    message: value("Hello."),
    content: value("Hello."),
    seq: value(0),
    title: value("News"),
  },
  ...{ consent: value({ store_memory: false }), parameters: value({}), data: value("aGVsbG8="), version: value(1) },
  ...{ export: value({}), result: value("seen"), decision: value("rejected"), run: value(1), number: value(0) },
  ...{ idle_ms: value(1_000_000_000_000), dry_run: value(true), off: value(false), kind: value("tool") },
  ...{ channel: value("desk"), recipient: value("somebody"), message_id: value("m-1"), name: value("shop/greet") },

  ...{ input_messages: unset, history: unset, workspace: unset, workspace_type: unset, workspace_id: unset },
  ...{ client_id: unset, attachments: unset, token_streaming: unset, client_context: unset, context: unset },
  ...{ cursor: unset, limit: unset, offset: unset, after: unset, before: unset, order: unset, key: unset, tags: unset },
  ...{ env: unset, budget: unset, status: unset, reason: unset, at: unset, silent: unset, wait: unset, queue: unset },
  ...{ erase: unset, live: unset, until_rest: unset, step: unset, directory: unset, deep: unset, mime_type: unset },
  ...{ layer: unset, words: unset, folder: unset, if_match: unset, source_type: unset, scope: unset, type: unset },
  ...{ public_key: unset, checkpoints: unset, minimum_role: unset, metadata: unset, error: unset, remember: unset },
  ...{ agent_id: unset, tool_name: unset, filters: unset, include_resolved: unset, payload: unset, success: unset },
  ...{ label: unset, allowed_capabilities: unset, expires_at: unset, revoked: unset, audience_id: unset, role: unset },
  ...{ callback_url: unset, connector_id: unset, conversation_id: unset, sender_id: unset, room_kind: unset },
};

/** Those of workflows and their runs. */
const fieldsOfWorkflows: Readonly<Record<string, Field>> = {
  run_id: names((theirs) => theirs.workflow_run),
  parent: names((theirs) => theirs.workflow_run),
  ...{ workflow_id: value("errand"), spec: value({ id: "an errand", steps: [] }), event: value("another") },
  ...{ timeout_ms: value(0), handle_id: value("a branch"), branch_result: value({ status: "succeeded" }) },
  ...{ inputs: unset, options: unset, continue_on_error: unset, repeat_unknown: unset, tag: unset, from: unset },
  ...{ to: unset },
};

/** And where they mean something else. */
const exceptions: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  "agents/chat": { session_id: chat },
  "agents/get-chat-run": { session_id: chat },
  "agents/list-chat-run-events": { session_id: chat },
  "agents/cancel-chat-run": { session_id: chat },
  "agents/queue-chat-message": { session_id: chat },
  "agents/list-conversation-sessions": { agent: unset },
  "agents/list-runtime-tool-requests": {
    ...{ run_id: names((theirs) => theirs.client.run_id), before: client, after: client },
  },
  "agents/run-workflow": { ...fieldsOfWorkflows, spec: unset },
  "agents/resolve-pending-action": { context: value({}) },
  "holdfast/find-thread": { key: names((theirs) => theirs.key) },
  "holdfast/list-threads": { after: thread },
  "holdfast/list-requests": { thread_id: clientThread, after: client, kind: unset },
  "holdfast/list-approvals": { thread_id: approvalThread, after: approval },
  "holdfast/get-approval": { request_id: approval },
  "holdfast/decide-approval": { request_id: approval, parameters: unset },
  "holdfast/submit-request": { decision: unset, parameters: unset },
  "holdfast/list-effects": { thread_id: effectThread, name: unset },
  "holdfast/run-effect": { thread_id: effectThread },
  "holdfast/cancel-effect": { thread_id: effectThread },
  "holdfast/cancel-queued": { thread_id: names((theirs) => theirs.queued.thread_id) },
  "holdfast/get-memory": { name: memory },
  "holdfast/put-memory": { name: memory },
  "holdfast/delete-memory": { name: memory },
  "holdfast/list-guidelines": { workspace_id: value("here") },
  "holdfast/create-guideline": { workspace_id: value("here"), scope: value("private_user_workspace_memory") },
  "holdfast/forget-remembered-approval": {
    ...{ workspace_type: value("site"), workspace_id: names((theirs) => theirs.workspace.workspace_id) },
    ...{ agent_id: value("helper"), tool_name: value("shop/pay") },
  },
  "holdfast/get-variables": { request_id: variables },
  "holdfast/submit-variables": { request_id: variables, env: value({ MAIL_TOKEN: "a token" }) },
  "holdfast/create-token": { agent: value("visitor"), unchecked: unset },
  "holdfast/list-tokens": { agent: value("visitor") },
  "holdfast/register-bridge": { client_id: bridgeClient },
  "holdfast/send-bridge-message": {
    ...{ client_id: bridgeClient, session_id: names((theirs) => theirs.bridge.session_id) },
  },
  "holdfast/list-bridge-messages": { client_id: bridgeClient },
  "holdfast/acknowledge-bridge-messages": { client_id: bridgeClient },
};

function fieldOf({ name }: Operation, field: string): Field {
  const own = exceptions[name] ?? (name.includes("workflow") ? fieldsOfWorkflows : {});
  const found = own[field] ?? fields[field];
  if (found) return found;
  throw new Error(`How "${field}" of "${name}" is filled is not told in ${import.meta.filename}.`);
}

/** The fields with which an operation names something of somebody's. */
export function namingFields(operation: Operation): readonly string[] {
  return fieldsOf(operation).all.filter((field) => fieldOf(operation, field).kind === "names");
}

/** `nothing`: the fields that are to name what nobody has. `all`: with those fields too that may be left out. */
export function inputFor(operation: Operation, of: (field: string) => Belongings | "nothing" | undefined): UnknownMap {
  const { all, required } = fieldsOf(operation);
  const filled = all.map((field): readonly [string, unknown] => {
    const found = fieldOf(operation, field);
    if (found.kind === "unset") {
      if (required.includes(field)) throw new Error(`"${operation.name}" cannot be called without "${field}".`);
      return [field, undefined];
    }
    if (found.kind === "value") return [field, found.value];
    const whose = of(field);
    if (whose === undefined) return [field, undefined];
    return [field, whose === "nothing" ? found.nothing : found.of(whose)];
  });
  return Object.fromEntries(filled.filter(([, given]) => given !== undefined));
}
