// The transcripts that are kept beyond their threads: to be read and removed by their owners, and shared where the person
// they were held with has agreed to that.
import type { NewSession, SessionQuery, SessionStore } from "../../backend/session-store.ts";
import type { NewShare } from "../../backend/subject-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap, UnknownMap } from "../../contracts/json.ts";
import type { Session, SessionSummary } from "../../contracts/sessions/session.ts";
import { isName } from "../../contracts/storable-name.ts";
import type { ConsentDecision } from "../../contracts/trust/consent.ts";
import { decision } from "../../contracts/trust/consent.ts";
import type { ConversationOwner } from "../../contracts/trust/conversation-owner.ts";
import * as principals from "../../contracts/trust/principal.ts";
import { safeMetadata } from "../../contracts/trust/safe-principal.ts";
import type { Workspace } from "../../contracts/workspace.ts";
import * as workspaces from "../../contracts/workspace.ts";
import { checkFields, checkName, checkNumber } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { changeConsent } from "./change-consent.ts";
import { decideConsent } from "./decide-consent.ts";

export type Share = {
  readonly id: string;
  readonly shared_with: string;
  readonly shared_by: JsonMap;
  readonly consent: ConsentDecision;
  readonly at: string;
};

export type ShareOptions = {
  /** Whom it is handed to, in words that are kept. */
  readonly with: string;
  /** Who hands it over; the program itself unless given. */
  readonly principal?: UnknownMap;
};

export interface Sessions {
  /** The id of a new session in which nothing has been said yet, so that nobody's consent is needed. */
  create(
    workspace: Workspace,
    owner: ConversationOwner,
    session?: Pick<NewSession, "agent_slug" | "metadata" | "context" | "audience_id">,
  ): Promise<string>;
  get(sessionId: string): Promise<Session | undefined>;
  /** The sessions of an owner in a workspace, newest first, without their messages unless asked for. */
  list(
    workspace: Workspace,
    owner: ConversationOwner,
    query?: SessionQuery,
  ): Promise<readonly (SessionSummary | Session)[]>;
  updateTitle(sessionId: string, title: string): Promise<boolean>;
  /** Removes it for good, and takes back the consent to keep it: the thread it was held on does not begin it anew. */
  delete(sessionId: string): Promise<boolean>;
  /**
   * The transcript, to be handed to somebody outside; that it was, and what allowed it, is stored before. Throws
   * `session_not_found`, and `consent_denied` when nobody has agreed to it.
   */
  share(sessionId: string, options: ShareOptions): Promise<Session>;
  shares(sessionId: string): Promise<readonly Share[]>;
}

export function createSessions(host: Host): Sessions {
  const { sessions, subjects } = host.stores;
  return {
    async create(workspace, owner, session = {}) {
      checkOwner(owner);
      checkFields("session", session, ["agent_slug", "metadata", "context", "audience_id"]);
      return await sessions.createForOwner(workspaces.normalize(workspace), owner, session);
    },
    get: async (sessionId) => (isName(sessionId) ? await sessions.get(sessionId) : undefined),
    async list(workspace, owner, query = {}) {
      checkOwner(owner);
      checkFields("query", query, ["limit", "offset", "agent_slug", "context", "audience_id", "include_messages"]);
      const { limit, offset, agent_slug, context, audience_id } = query;
      for (const [argument, value] of Object.entries({ limit, offset }))
        if (value !== undefined) checkNumber(argument, value);
      for (const [argument, value] of Object.entries({ agent_slug, context, audience_id }))
        if (value !== undefined) checkName(argument, value);
      return await sessions.listForOwner(workspaces.normalize(workspace), owner, query);
    },
    async updateTitle(sessionId, title) {
      checkName("title", title);
      return isName(sessionId) && (await sessions.updateTitle(sessionId, title));
    },
    async delete(sessionId) {
      if (!isName(sessionId)) return true;
      const { thread_id = null } = (await sessions.get(sessionId)) ?? {};
      // First, so that a run that ends just now does not bring back what is about to go.
      if (thread_id !== null) await withdraw(host, thread_id);
      return await sessions.delete(sessionId);
    },
    async share(sessionId, options) {
      checkFields("options", options, ["with", "principal"]);
      checkName("with", options.with);
      const by = options.principal === undefined ? null : principals.fromArray(options.principal);
      const session = await required(sessions, sessionId);
      const consent = await consentOf(host, session);
      if (!consent.allowed) {
        throw holdfastError("consent_denied", `Session "${sessionId}" may not be shared: ${consent.reason}.`);
      }
      const share: NewShare = {
        ...{ id: crypto.randomUUID(), session_id: sessionId, shared_with: options.with },
        shared_by: JSON.stringify(by ? safeMetadata(by) : {}),
        consent: JSON.stringify(consent),
      };
      await subjects.share(share);
      // What was taken out of it meanwhile is not handed over.
      return await required(sessions, sessionId);
    },
    async shares(sessionId) {
      if (!isName(sessionId)) return [];
      return (await subjects.shares(sessionId)).map(({ id, shared_with, shared_by, consent, at }) => ({
        ...{ id, shared_with },
        shared_by: JSON.parse(shared_by) as JsonMap,
        consent: JSON.parse(consent) as ConsentDecision,
        at: new Date(at / 1_000).toISOString(),
      }));
    },
  };
}

function checkOwner(owner: ConversationOwner): void {
  checkFields("owner", owner, ["type", "key"]);
  checkName("owner.type", owner.type);
  checkName("owner.key", owner.key);
}

async function withdraw(host: Host, threadId: string): Promise<void> {
  if ((await host.stores.threads.get(threadId)) === undefined) return;
  await changeConsent(host, threadId, { store_transcript: false });
}

async function required(sessions: SessionStore, sessionId: string): Promise<Session> {
  const session = isName(sessionId) ? await sessions.get(sessionId) : undefined;
  if (!session)
    throw holdfastError(
      "session_not_found",
      `There is no session "${isName(sessionId) ? sessionId : typeof sessionId}".`,
    );
  return session;
}

/** Asked of the thread that it was held on: a transcript without one has nobody who could have agreed. */
async function consentOf(host: Host, { thread_id, agent_slug }: Session): Promise<ConsentDecision> {
  if (thread_id !== null)
    return await decideConsent(host, { threadId: thread_id, agent: agent_slug }, "share_transcript");
  return decision({ allowed: false, operation: "share_transcript", reason: "thread_unknown" });
}
