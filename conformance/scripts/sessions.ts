// The steps of the sequences over sessions, against the product's own store on a database whose clock the script holds.
import * as abilities from "../../src/abilities/sessions.ts";
import { openStores } from "../../src/backend/sql/open-stores.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { Stores } from "../../src/backend/stores.ts";
import * as identity from "../../src/contracts/agents/identity.ts";
import * as identityScope from "../../src/contracts/agents/identity-scope.ts";
import { errorMessage } from "../../src/contracts/error.ts";
import { isMap, type UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import type { Session } from "../../src/contracts/sessions/session.ts";
import { nullSessionLock } from "../../src/contracts/sessions/session-lock.ts";
import { normalize as normalizeWorkspace } from "../../src/contracts/workspace.ts";
import { type HeldClock, heldClock } from "../../src/testing/held-clock.ts";

export type Call = { readonly do: string; readonly with?: UnknownMap; readonly as_user?: number };
export type Calls = { readonly calls: readonly Call[] };

// `never` fits whatever the verb takes: what is really there is what the vector gives.
type Fields = { readonly [Field in FieldName]: never };

type FieldName =
  | ("session_id" | "workspace_type" | "workspace_id" | "user_id" | "owner" | "agent_slug" | "metadata" | "context")
  | ("messages" | "provider" | "model" | "provider_response_id" | "title" | "args" | "token_id" | "lock_token")
  | ("ttl_seconds" | "seconds" | "id" | "owner_user_id" | "instance_key" | "config" | "meta" | "ttl" | "limit")
  | (
      | "connector_id"
      | "external_conversation_id"
      | "message_id"
      | "client_id"
      | "session_ids"
      | "queue_ids"
      | "full"
      | "principal"
    );

/** When every case begins. */
const START = Date.UTC(2026, 0, 1);

/** Plays calls one after another on stores of their own. `"@3"` in a call stands for what call 3 has made. */
export async function play(
  calls: readonly Call[],
  take: (call: Omit<Call, "with"> & { readonly with: Fields }, stores: Stores, clock: HeldClock) => Promise<unknown>,
  made: (result: unknown) => unknown = (result) => result,
): Promise<unknown[]> {
  const clock = heldClock(START);
  const driver = await sqlite(":memory:", { clock }).open();
  try {
    const stores = await openStores(driver, { keyFingerprint: "conformance" });
    const results: unknown[] = [];
    for (const call of calls) {
      const given = filled(call.with ?? {}, results.map(made)) as Fields;
      results.push((await take({ ...call, with: given }, stores, clock)) ?? null);
    }
    return results;
  } finally {
    await driver.close();
  }
}

export async function advance(clock: HeldClock, seconds: number): Promise<void> {
  await clock.advance(seconds * 1_000);
}

export function runConversationStore({ calls }: Calls) {
  return play(calls, async ({ do: verb, with: given }, { sessions }, clock) => {
    const place = normalizeWorkspace({
      workspace_type: given.workspace_type ?? "site",
      workspace_id: given.workspace_id ?? "1",
    });
    switch (verb) {
      case "create":
        return sessions.create(place, given.user_id, given);
      case "create_for_owner":
        return sessions.createForOwner(place, given.owner, given);
      case "get":
        return sessions.get(given.session_id);
      case "get_for_owner":
        return sessions.getForOwner(place, given.owner, given.session_id);
      case "update":
        return sessions.update(given.session_id, given);
      case "update_title":
        return sessions.updateTitle(given.session_id, given.title);
      case "delete":
        return sessions.delete(given.session_id);
      case "list":
        return (await sessions.list(place, given.user_id, given.args)).map(listed);
      case "list_for_owner":
        return (await sessions.listForOwner(place, given.owner, given.args)).map(listed);
      case "recent_pending":
        return pending(await sessions.recentPending(place, given.user_id, given));
      case "recent_pending_for_owner":
        return pending(await sessions.recentPendingForOwner(place, given.owner, given));
      case "lock":
        return sessions.acquireLock(given.session_id, given.ttl_seconds);
      case "release":
        return sessions.releaseLock(given.session_id, given.lock_token);
      case "advance":
        return advance(clock, given.seconds);
      default:
        throw new Error(`Nobody knows how to ${verb}.`);
    }
  });
}

function listed(session: object) {
  const { agent_slug, context, owner_type, owner_key } = session as Session;
  return { agent_slug, context, owner_type, owner_key, has_messages_key: "messages" in session };
}

function pending(session: Session | undefined) {
  return session && { agent_slug: session.agent_slug, message_count: session.messages.length };
}

export function runNullLock({ calls }: Calls) {
  return Promise.all(
    calls.map(({ do: verb }) =>
      verb === "acquire" ? nullSessionLock.acquireLock("session") : nullSessionLock.releaseLock("session", "token"),
    ),
  );
}

const verbs = {
  create: abilities.create,
  get: abilities.get,
  list: abilities.list,
  update_title: abilities.updateTitle,
  delete: abilities.remove,
};

export function runSessionAbilities({ calls, current_user_id }: Calls & { readonly current_user_id: number }) {
  return play(
    calls,
    async ({ do: verb, with: given, as_user }, { sessions }) => {
      const host = { store: sessions, currentUserId: as_user ?? current_user_id };
      // The vectors call from within the host, whose word about who asks stands beside what is asked.
      const answer = await verbs[verb as keyof typeof verbs](given, host, { principal: given.principal });
      return isOperationError(answer) ? { error: { code: answer.code, ...answer.data } } : answer;
    },
    (answer) => (isMap(answer) && isMap(answer.session) ? answer.session.session_id : undefined),
  );
}

export function normalizeScope(given: unknown) {
  const scope = identityScope.normalize(given);
  return { ...scope, key: identityScope.key(scope) };
}

export function runIdentityStore({ calls }: Calls) {
  return play(calls, async ({ do: verb, with: given }, { identities }) => {
    switch (verb) {
      case "materialize":
        return identities.materialize(given, given);
      case "resolve":
        return identities.resolve(given);
      case "get":
        return identities.get(given.id);
      case "update_config": {
        const known = await (given.id === undefined ? identities.resolve(given) : identities.get(given.id));
        return known && identities.update(identity.withConfig(known, given.config));
      }
      case "delete":
        return identities.delete(given);
      default:
        throw new Error(`Nobody knows how to ${verb}.`);
    }
  });
}

/** What was thrown, where a sequence records that in place. */
export async function inPlace(operate: () => Promise<unknown>, contains: string): Promise<unknown> {
  try {
    return await operate();
  } catch (thrown) {
    const message = errorMessage(thrown);
    return { error: { contains: message.includes(contains) ? contains : message } };
  }
}

function filled(value: unknown, made: readonly unknown[]): unknown {
  if (typeof value === "string" && /^@\d+$/.test(value)) return made[Number(value.slice(1))];
  if (Array.isArray(value)) return value.map((item) => filled(item, made));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, made)]));
}
