// The operations on sessions, for whoever calls. Nobody is told of the sessions of others, not even that they exist.
import { z } from "zod";
import { identifier, scalarText } from "../contracts/coerce.ts";
import { asMap, type JsonMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import { REDACTED } from "../contracts/tools/sensitive-keys.ts";
import { conversationOwner, isSameOwner } from "../contracts/trust/conversation-owner.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Runtime } from "../threads/runtime.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Door, Operation, OperationDefinition } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { type ConversationSessionHost, create, get, list, remove, updateTitle } from "./sessions.ts";
import { anyId, jsonMap } from "./shapes.ts";

const place = {
  workspace: z.object({ workspace_type: anyId, workspace_id: anyId }).optional(),
  workspace_type: anyId.optional(),
  workspace_id: anyId.optional(),
  session_owner: z
    .object({ type: anyId, key: z.string().max(1_024) })
    .optional()
    .meta({ description: "Can only repeat who the caller is." }),
};
const one = { session_id: anyId, ...place };
const page = { limit: z.int().min(1).max(100).default(50), offset: z.int().min(0).default(0) };
const kind = { agent: anyId.optional(), context: anyId.optional() };
const oneSession = z.object({ session: jsonMap });
const readingDoors: readonly Door[] = ["http", "cli", "mcp"];

type Store = NonNullable<ConversationSessionHost["store"]>;

/** As the contract's own function answers; a refusal is a value among its answers. */
type Operate = (input: unknown, host: ConversationSessionHost, context: UnknownMap) => Promise<unknown>;

export function sessionOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  const store = storeOf(runtime);

  /** Runs one of the operations for the caller, where the caller is. */
  function operation<Output extends z.ZodType>(
    definition: Omit<OperationDefinition<ReturnType<typeof lenientInput>, Output>, "execute">,
    operate: Operate,
  ): Operation {
    return define({
      ...definition,
      async execute(input, { principal }) {
        const elsewhere = isElsewhere(input, principal);
        if (elsewhere) return refused("invalid_workspace", "The caller was let in for another workspace.");
        const { workspace_id: workspaceId } = principal;
        const host = {
          ...{ store: storeFor(store, principal), isAdministrator: reach.managesThreads },
          ...(workspaceId !== null && { workspaceId }),
        };
        const answer = await operate(input, host, { principal });
        if (!isOperationError(answer)) return plain(shownTo(answer, principal));
        if (answer.code !== `${CODE}_forbidden`) return answer;
        return refused("not_found", `There is no session "${identifier(input.session_id)}".`, { status: 404 });
      },
    });
  }

  return [
    operation(
      {
        name: "agents/list-conversation-sessions",
        title: "List conversations",
        description:
          "Lists the conversations that are kept for whoever asks, the newest first and without their messages.",
        input: lenientInput(z.object({ ...page, ...kind, ...place })),
        output: z.object({ sessions: z.array(jsonMap) }),
        effect: "read",
        capability: "sessions.read",
        doors: readingDoors,
        route: { method: "get", path: "/sessions" },
      },
      list,
    ),

    operation(
      {
        name: "agents/get-conversation-session",
        title: "Read a conversation",
        description: "Gives a conversation that is kept for whoever asks, with its messages.",
        input: lenientInput(z.object(one)),
        output: oneSession,
        effect: "read",
        capability: "sessions.read",
        doors: readingDoors,
        route: { method: "get", path: "/sessions/{session_id}" },
      },
      get,
    ),

    operation(
      {
        name: "agents/create-conversation-session",
        title: "Begin a conversation",
        description: "Makes a conversation for whoever asks, in which nothing has been said yet.",
        input: lenientInput(z.object({ metadata: jsonMap.optional(), ...page, ...kind, ...place })),
        output: oneSession,
        effect: "write",
        capability: "sessions.write",
        route: { method: "post", path: "/sessions", status: 201 },
      },
      create,
    ),

    operation(
      {
        name: "agents/update-conversation-session-title",
        title: "Name a conversation",
        description: "Gives a conversation of whoever asks another title.",
        input: lenientInput(z.object({ title: z.string().max(1_000), ...one })),
        output: oneSession,
        effect: "write",
        idempotent: true,
        capability: "sessions.write",
        route: { method: "patch", path: "/sessions/{session_id}" },
      },
      updateTitle,
    ),

    operation(
      {
        name: "agents/delete-conversation-session",
        title: "Delete a conversation",
        description: "Deletes a conversation of whoever asks, with all that was said in it.",
        input: lenientInput(z.object(one)),
        output: z.object({ deleted: z.literal(true) }),
        effect: "destroy",
        idempotent: true,
        capability: "sessions.write",
        route: { method: "delete", path: "/sessions/{session_id}" },
      },
      remove,
    ),
  ];
}

/** A session says whose it is to those whose it is: to others the key may be all that it takes to be taken for them. */
function shownTo(answer: unknown, principal: Principal): unknown {
  const session = asMap(asMap(answer)?.session);
  if (!session) return answer;
  const { owner_type: type, owner_key: key } = session;
  const isTheirs = isSameOwner({ type: String(type), key: String(key) }, conversationOwner({ ...principal }));
  const isNumber = type === "user" || type === "token";
  return isTheirs || isNumber ? answer : { ...asMap(answer), session: { ...session, owner_key: REDACTED } };
}

/** The runtime's sessions as the operations ask for them. */
function storeOf({ sessions }: Runtime): Store {
  return {
    createForOwner: sessions.create,
    // What is blank narrows nothing.
    listForOwner: (workspace, owner, { agent_slug, context, ...query } = {}) =>
      sessions.list(workspace, owner, { ...query, ...(agent_slug && { agent_slug }), ...(context && { context }) }),
    get: sessions.get,
    updateTitle: sessions.updateTitle,
    delete: sessions.delete,
  };
}

/** What is kept elsewhere is not there, whoever asks, and for a visitor nothing of those of another audience. */
function storeFor(store: Store, { workspace_id, audience_id }: Principal): Store {
  const visited = audience_id === null ? {} : { audience_id };
  return {
    ...store,
    createForOwner: (workspace, owner, session) => store.createForOwner(workspace, owner, { ...session, ...visited }),
    listForOwner: (workspace, owner, query) => store.listForOwner(workspace, owner, { ...query, ...visited }),
    async get(sessionId) {
      const found = await store.get(sessionId);
      const isHere = workspace_id === null || found?.workspace_id === workspace_id;
      const isTheirs = audience_id === null || found?.audience_id === audience_id;
      return isHere && isTheirs ? found : undefined;
    },
  };
}

/** True when the input names another workspace than the one that the caller was let in for. */
function isElsewhere(input: UnknownMap, { workspace_id }: Principal): boolean {
  const named = asMap(input.workspace)?.workspace_id ?? input.workspace_id;
  return workspace_id !== null && named != null && scalarText(named) !== workspace_id;
}

const CODE = "agents_conversation_session";

function refused(code: string, message: string, data?: JsonMap): OperationError {
  return operationError(`${CODE}_${code}`, message, data);
}
