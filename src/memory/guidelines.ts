// Guidelines for whoever acts: private memory for its owner alone, shared guidance for those who hold the capability. There
// is no other way to a private record, for no rank among people, and nobody else learns that it is there. Only the program
// itself may have all of a person's forgotten, unseen.
import type {
  Guideline,
  GuidelineChange,
  GuidelineFilter,
  GuidelineStore,
  PrivateGuidelines,
} from "../backend/guideline-store.ts";
import { holdfastError } from "../contracts/error.ts";
import {
  DEFAULT_GUIDELINE_TYPE,
  GUIDELINE,
  type GuidelineScope,
  guidelineTypes,
  mapCapability,
  NOBODY,
  PRIVATE_MEMORY,
  SHARED_GUIDANCE,
} from "../contracts/memory/guideline.ts";
import { can } from "../contracts/trust/authorization.ts";
import * as capabilityCeiling from "../contracts/trust/capability-ceiling.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import {
  checkForgotten,
  checkId,
  checkInput,
  checkList,
  checkTexts,
  checkVersion,
  type GuidelineList,
  MOST_LISTED,
  readChange,
} from "./check-guidelines.ts";

export type { GuidelineList } from "./check-guidelines.ts";

export type GuidelineInput = {
  readonly workspace_id: string;
  readonly scope: GuidelineScope;
  readonly title: string;
  readonly content: string;
  readonly type?: string;
  readonly status?: string;
};

/** Somebody was faster: this is how it stands now. Here as below, null for whoever may change it but not read it. */
type Overtaken = { readonly outcome: "conflict"; readonly guideline: Guideline | null };

export type GuidelineOutcome = { readonly outcome: "done"; readonly guideline: Guideline | null } | Overtaken;

/**
 * Every verb but one takes the one who acts. It throws `guideline_not_found` for a record that is not there or that is somebody
 * else's private memory, `guideline_forbidden` where a capability is missing, `invalid_guideline` for what is none,
 * `invalid_argument` for what else is wrong, and `invalid_agent_execution_principal` for nobody who could act.
 */
export interface Guidelines {
  /** The kinds there are, with their display titles. */
  types(): Readonly<Record<string, string>>;
  create(principal: Principal, input: GuidelineInput): Promise<Guideline>;
  get(principal: Principal, id: string): Promise<Guideline>;
  /** What may be seen of one workspace, oldest first; so is what is counted. */
  list(principal: Principal, list: GuidelineList): Promise<readonly Guideline[]>;
  count(principal: Principal, list: Omit<GuidelineList, "after" | "limit">): Promise<number>;
  /** `version` is that of the record which the change was made from. */
  update(principal: Principal, id: string, version: number, change: GuidelineChange): Promise<GuidelineOutcome>;
  delete(principal: Principal, id: string, version: number): Promise<{ readonly outcome: "deleted" } | Overtaken>;
  /** Shares what a private record says, as a record of its own that knows where it came from. A repeat makes no second one. */
  promote(principal: Principal, id: string, version: number): Promise<GuidelineOutcome>;
  /**
   * Erases the private memory of a user, in one workspace or in all of them, and shows it to nobody; says how many records that
   * were. For the program itself, which has to forget a person who cannot act any more.
   */
  forgetAll(of: PrivateGuidelines): Promise<number>;
}

/** The host's own answer. Whoever acts in no workspace may hold something in one of them and not in another. */
type HoldsThere = (
  userId: number,
  capability: string,
  about: { readonly workspace_id: string },
) => boolean | PromiseLike<boolean>;

export type GuidelinesOptions = {
  readonly holdsCapability: HoldsThere;
  /** More kinds, by their slugs, with their display titles. */
  readonly types?: Readonly<Record<string, string>>;
};

export function createGuidelines(
  store: GuidelineStore,
  { holdsCapability, types: registered = {} }: GuidelinesOptions,
): Guidelines {
  const types = Object.freeze({ ...guidelineTypes, ...registered });

  /** Ceilings are asked for what is wanted, and the host for what that takes; a ceiling may deny either. */
  async function may(principal: Principal, capability: string, { workspace_id, ...record }: About) {
    const { scope, user_id } = record;
    const target = scope === undefined ? null : { type: GUIDELINE, scope, user_id: user_id ?? null };
    const holds = async (user: number, wanted: string) => {
      const needed = mapCapability(wanted, user, { target, proposed: [wanted] });
      // Not asked of the host, which may answer yes to everything an administrator wants.
      if (needed.some((each) => each === NOBODY || isDenied(principal, each))) return false;
      for (const each of needed) if ((await holdsCapability(user, each, { workspace_id })) !== true) return false;
      return true;
    };
    return await can(principal, capability, {}, holds);
  }

  async function demand(principal: Principal, capability: string, about: About): Promise<void> {
    if (await may(principal, capability, about)) return;
    throw holdfastError("guideline_forbidden", `This takes the capability ${capability}.`);
  }

  /** The record, if the one who acts may know of it. */
  async function find(principal: Principal, id: string): Promise<Guideline> {
    checkId(id);
    const found = await store.get(id);
    if (found && isWithin(principal, found.workspace_id) && (!isPrivate(found) || isOwner(principal, found)))
      return found;
    throw holdfastError("guideline_not_found", `There is no guideline ${JSON.stringify(id)}.`);
  }

  async function findToChange(principal: Principal, id: string): Promise<Guideline> {
    const found = await find(principal, id);
    await demand(principal, isPrivate(found) ? "edit_private_agent_memory" : "edit_workspace_guidelines", found);
    return found;
  }

  /** The record for whoever may read it too. */
  async function shown(principal: Principal, guideline: Guideline): Promise<Guideline | null> {
    return (await may(principal, toRead(guideline), guideline)) ? guideline : null;
  }

  /** Which of it may be seen. Asked for by name, what may not be seen is refused; otherwise it is left out. */
  async function visible(principal: Principal, { workspace_id, scope, type, status }: Omit<GuidelineList, "limit">) {
    const own = { scope: PRIVATE_MEMORY, user_id: principal.acting_user_id, workspace_id } as const;
    const within = isWithin(principal, workspace_id);
    const shared =
      within && scope !== PRIVATE_MEMORY && (await may(principal, "read_workspace_guidelines", { workspace_id }));
    const isOwn = within && scope !== SHARED_GUIDANCE && (await may(principal, "read_private_agent_memory", own));
    if (scope !== undefined && !shared && !isOwn) {
      throw holdfastError("guideline_forbidden", `These guidelines may not be listed: ${scope}.`);
    }
    const private_of = isOwn ? own.user_id : null;
    return { workspace_id, shared, private_of, type, status } satisfies GuidelineFilter;
  }

  /** What became of a change that the store refused. */
  async function conflict(principal: Principal, id: string) {
    return { outcome: "conflict", guideline: await shown(principal, await find(principal, id)) } as const;
  }

  return {
    types: () => types,

    async create(given, input) {
      const principal = principals.fromArray(given);
      checkInput(input);
      const { workspace_id, scope, title, content, type = DEFAULT_GUIDELINE_TYPE, status = "publish" } = input;
      checkTexts({ title, content, type, status }, types);
      const user_id = principal.acting_user_id;
      const capability = scope === PRIVATE_MEMORY ? "edit_agent_memory" : "edit_workspace_guidelines";
      await demand(principal, capability, { workspace_id });
      if (scope === PRIVATE_MEMORY && user_id <= 0) {
        throw holdfastError("guideline_forbidden", "Nobody acts here whose private memory this could be.");
      }
      if (!isWithin(principal, workspace_id)) throw holdfastError("guideline_forbidden", "This is another workspace.");
      const id = crypto.randomUUID();
      return await store.create({ id, type, title, content, scope, user_id, workspace_id, status });
    },

    async get(given, id) {
      const principal = principals.fromArray(given);
      const found = await find(principal, id);
      await demand(principal, toRead(found), found);
      return found;
    },

    async list(given, list) {
      const principal = principals.fromArray(given);
      checkList(list);
      const { after, limit = MOST_LISTED } = list;
      return await store.list(await visible(principal, list), { after, limit: Math.min(MOST_LISTED, limit) });
    },

    async count(given, list) {
      const principal = principals.fromArray(given);
      checkList(list);
      return await store.count(await visible(principal, list));
    },

    async update(given, id, version, change) {
      const principal = principals.fromArray(given);
      checkVersion(version);
      const wanted = readChange(change);
      const found = await findToChange(principal, id);
      checkTexts({ ...found, ...wanted }, types);
      const guideline = await store.update(id, version, wanted);
      if (!guideline) return await conflict(principal, id);
      return { outcome: "done", guideline: await shown(principal, guideline) };
    },

    async delete(given, id, version) {
      const principal = principals.fromArray(given);
      checkVersion(version);
      await findToChange(principal, id);
      return (await store.delete(id, version)) ? { outcome: "deleted" } : await conflict(principal, id);
    },

    async promote(given, id, version) {
      const principal = principals.fromArray(given);
      checkVersion(version);
      const found = await find(principal, id);
      await demand(principal, "promote_agent_memory", found);
      const promoted_by = principal.acting_user_id;
      const guideline = await store.promote({ id, version }, { id: crypto.randomUUID(), promoted_by });
      if (!guideline) return await conflict(principal, id);
      return { outcome: "done", guideline: await shown(principal, guideline) };
    },

    async forgetAll(of) {
      checkForgotten(of);
      return await store.forgetAll(of);
    },
  };
}

/** Where something is to be done, and with which record if there is one. */
type About = Pick<Guideline, "workspace_id"> & Partial<Pick<Guideline, "scope" | "user_id">>;

function toRead(guideline: Guideline): string {
  return isPrivate(guideline) ? "read_private_agent_memory" : "read_workspace_guidelines";
}

function isPrivate({ scope }: Guideline): boolean {
  return scope === PRIVATE_MEMORY;
}

/** Nobody is user 0, whatever a record says. */
function isOwner({ acting_user_id }: Principal, { user_id }: Guideline): boolean {
  return acting_user_id > 0 && acting_user_id === user_id;
}

/** Whoever acts in one workspace sees no other. */
function isWithin({ workspace_id }: Principal, other: string): boolean {
  return workspace_id === null || workspace_id === other;
}

function isDenied({ capability_ceiling }: Principal, capability: string): boolean {
  return (
    capability_ceiling !== null &&
    !capabilityCeiling.allows({ ...capability_ceiling, allowed_capabilities: null }, capability)
  );
}
