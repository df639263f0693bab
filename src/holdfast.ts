// The runtime, wired: a database, the agents, a worker, and the handles with which everything is done.
import { type Audit, createAudit } from "./audit/audit.ts";
import { knowsKey, openStores } from "./backend/sql/open-stores.ts";
import type { Backend, SqlDriver } from "./backend/sql-driver.ts";
import type { StoredCall, Thread, ThreadQuery } from "./backend/thread-store.ts";
import { createSigner } from "./contracts/audit/signer.ts";
import { errorMessage, HoldfastError, holdfastError } from "./contracts/error.ts";
import { isMap } from "./contracts/json.ts";
import type { MemoryStore } from "./contracts/memory/memory-store.ts";
import type { CanDecide } from "./contracts/trust/approver-rule.ts";
import { type ConsentPolicy, decide as decideByWord } from "./contracts/trust/consent.ts";
import { createGuidelines, type Guidelines, type GuidelinesOptions } from "./memory/guidelines.ts";
import { checkMemory, createMemory, type MemoryOptions } from "./memory/memory.ts";
import { readyModels } from "./models/choose/ready-models.ts";
import type { ReadyModel } from "./models/model-choice.ts";
import type { Agent } from "./threads/agent.ts";
import { modelKey } from "./threads/asking/models-of.ts";
import { shownSettlement } from "./threads/calls/shown-settlement.ts";
import { checkName, checkNumber, checkQuery, isName } from "./threads/check-arguments.ts";
import { createSessions, type Sessions } from "./threads/consent/sessions.ts";
import type { EffectDefinition } from "./threads/definitions/effect.ts";
import type { Endpoint } from "./threads/definitions/endpoint.ts";
import type { HookDefinition } from "./threads/definitions/hook.ts";
import type { ModelDefinition } from "./threads/definitions/model.ts";
import type { Prompt } from "./threads/definitions/prompt.ts";
import { createRegistry, type Registry } from "./threads/definitions/registry.ts";
import { callEndpoint, type EndpointCall } from "./threads/endpoints.ts";
import { checkPrices } from "./threads/funds/agent-funds.ts";
import { type Budgets, createBudgets } from "./threads/funds/budgets.ts";
import type { Host } from "./threads/host.ts";
import {
  type HousekeepingOptions,
  housekeepingProblem,
  pruneThreads,
  startHousekeeping,
} from "./threads/housekeeping.ts";
import { createEntry } from "./threads/new-entry.ts";
import { type OpenOptions, openThread } from "./threads/open-thread.ts";
import { passBy, type Reached } from "./threads/points.ts";
import { createProgress } from "./threads/progress.ts";
import { createApprovalQueue } from "./threads/requests/approval-queue.ts";
import { createRequests, type Requests } from "./threads/requests/requests.ts";
import { installationSecrets } from "./threads/secrets/installation-secrets.ts";
import type { KnownSecrets } from "./threads/secrets/known-secrets.ts";
import { createSealing } from "./threads/secrets/sealing.ts";
import { readSecretKey } from "./threads/secrets/secret-key.ts";
import { shownError } from "./threads/secrets/shown-error.ts";
import { createLiveTexts } from "./threads/stream/live-texts.ts";
import { createVariables, type Variables } from "./threads/subagents/variables.ts";
import { createHandle, type ThreadHandle } from "./threads/thread.ts";
import { threadNotFound } from "./threads/thread-errors.ts";
import type { Tool } from "./threads/tool.ts";
import { Worker } from "./threads/worker.ts";
import type { ActionHandler, ActionObserver } from "./trust/action-handler.ts";
import { createApprovalMemory, type StoredApprovalMemory } from "./trust/approval-memory.ts";
import { type AuthorityOptions, createAuthority } from "./trust/authority.ts";
import { createGrants, type Grants } from "./trust/grants.ts";
import { createPendingActions, type PendingActions } from "./trust/pending-actions.ts";
import { createTokens, type Tokens } from "./trust/tokens.ts";

export type HoldfastOptions = {
  /** `sqlite(path)` or `postgres(url)`. */
  readonly backend: Backend;
  readonly agents: readonly Agent[];
  /** What agents refer to by name; what stands in them as an object need not be listed. */
  readonly prompts?: readonly Prompt[];
  readonly models?: readonly ModelDefinition[];
  readonly tools?: readonly Tool[];
  readonly hooks?: readonly HookDefinition[];
  readonly effects?: readonly EffectDefinition[];
  readonly endpoints?: readonly Endpoint[];
  /** Variables of this installation, for every thread of it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The variables of a user, where somebody keeps them. */
  readonly userEnv?: (userId: string) => Promise<Readonly<Record<string, string>>>;
  /** Who may do what, in the host's own words. */
  readonly trust?: TrustOptions;
  /** What people have agreed to; a word of theirs for each operation unless given. */
  readonly consent?: ConsentPolicy;
  /** What is remembered beyond a thread, and what is brought into prompts. */
  readonly memory?: MemoryOptions;
  /** More kinds of guidelines than there are; false for a host that keeps guidelines itself. */
  readonly guidelines?: false | Pick<GuidelinesOptions, "types">;
  /** How long what is not needed any more is kept, and how often that is looked after. */
  readonly housekeeping?: HousekeepingOptions;
  /** Whether this process runs threads; true unless given. Without, it only leaves work for others and reads. */
  readonly runs?: boolean;
  /** 32 bytes, as hex or base64, with which secrets are sealed at rest; HOLDFAST_SECRET_KEY or a key file unless given. */
  readonly secretKey?: string;
  /** Threads that run at the same time in this process; 64 unless given. */
  readonly concurrency?: number;
  /** How long a thread is held without word from its worker; 30 seconds unless given. */
  readonly leaseMs?: number;
  /** How often the database is asked for work without having been told; every second unless given. */
  readonly pollMs?: number;
  /** How long what is under way may take when the process is to end; 10 seconds unless given. */
  readonly drainMs?: number;
  /** Ends in good order on SIGTERM and SIGINT; true unless given. */
  readonly drainsOnSignal?: boolean;
  /** Told what went wrong while running a thread. On the console unless given. */
  readonly onError?: (error: unknown, threadId: string) => void;
  /** After every commit, compare the stored state with what the stored records lead to. For tests. */
  readonly verifies?: boolean;
  /** Told of every place where a crash may hurt. For tests. */
  readonly onPoint?: Reached;
};

export type TrustOptions = AuthorityOptions & {
  /** Asked when somebody decides about a proposed action, after every rule: only true lets the decision count. */
  readonly canDecide?: CanDecide;
  /** Who decides and applies what others than threads propose, by the kind of the action. */
  readonly actionHandlers?: Readonly<Record<string, ActionHandler>>;
  readonly actionObservers?: readonly ActionObserver[];
};

export interface Holdfast {
  readonly threads: {
    /**
     * The thread of that key: the same one every time. Throws `thread_key_taken` when it belongs to another agent, or
     * draws on another budget.
     */
    open(key: string, options: OpenOptions): Promise<ThreadHandle>;
    /** The thread of that id; throws `thread_not_found`. */
    get(id: string): Promise<ThreadHandle>;
    list(query?: ThreadQuery): Promise<readonly Thread[]>;
    /** Erases a thread and all that descend from it, for good; answers with their ids. Throws `thread_not_found`. */
    delete(id: string): Promise<readonly string[]>;
    /** Deletes the threads that nobody has used for so long and that wait for nothing; answers with their ids. */
    prune(options: { readonly idleMs: number }): Promise<readonly string[]>;
    /** Lets a thread that got stuck try again. Throws `thread_not_stuck` when it is not. */
    retry(id: string): Promise<void>;
  };
  readonly requests: Requests;
  /** What waits to be decided by a person, and what was decided: of threads, and of whoever else proposes something. */
  readonly approvals: PendingActions & { readonly remembered: StoredApprovalMemory };
  /** Bearer tokens of agents. */
  readonly tokens: Tokens;
  /** Who was given which agent, in which role. */
  readonly grants: Grants;
  /** Transcripts that are kept beyond their threads, with consent. */
  readonly sessions: Sessions;
  /** Signed checkpoints over everything, and exports that a stranger can verify. */
  readonly audit: Audit;
  /** What children that could not be created yet still need: to be read, and submitted once. */
  readonly variables: Variables;
  /** Answers a request to an endpoint of a thread. */
  readonly endpoints: { call(given: EndpointCall): Promise<Response> };
  /** What is remembered beyond threads: to be read, written and erased by the program itself. */
  readonly memories: MemoryStore;
  /** Guidance that people write for agents: their own private memory, and what a workspace shares. Null where a host brings its own. */
  readonly guidelines: Guidelines | null;
  /** What several threads may spend on models together. */
  readonly budgets: Budgets;
  readonly calls: {
    /** Calls of which nobody could tell what they did. */
    unknown(options?: { readonly limit?: number }): Promise<readonly StoredCall[]>;
    /** Says what a call of unknown outcome did. It takes the place of what the model was told, in every later run. */
    settle(call: Pick<StoredCall, "thread_id" | "run" | "number">, result: unknown): Promise<void>;
  };
  /** Lets what is under way come to a commit, gives the rest back and closes the database. */
  close(): Promise<void>;
}

/** Opens the database, brings it up to date and begins to run what is due, what a crash has left behind included. */
export async function createHoldfast(options: HoldfastOptions): Promise<Holdfast> {
  const { registry, problems } = createRegistry(options);
  const { agents } = registry;
  checkMemory(options.memory ?? {});
  const problem = housekeepingProblem(options.housekeeping ?? {});
  if (problem !== undefined) throw holdfastError("invalid_argument", problem);
  // Before anything is opened: a model that cannot be asked is a mistake to be told of at once.
  const models = (options.runs ?? true) ? await readyForAll(registry) : new Map<string, readonly ReadyModel[]>();
  const { backend, leaseMs = 30_000, pollMs = 1_000, onPoint = passBy } = options;
  const driver = await backend.open();
  const { stores, sealing, signer } = await openSealed(driver, options).catch(async (thrown: unknown) => {
    await driver.close();
    throw thrown;
  });
  const { isShared } = driver;
  const runs = options.runs ?? true;
  const progress = createProgress(stores.threads, { isShared });
  const secrets = installationSecrets({ env: options.env ?? {}, registry });
  const report = reporting(options.onError ?? printError, secrets);
  for (const { definition, message } of problems)
    report(holdfastError("odd_definition", `${definition}: ${message}`), "");
  const grants = createGrants({ store: stores.grants });
  const approvalMemory = createApprovalMemory(stores.approvalMemory, sealing.bind);
  const host: Host = {
    stores,
    agents,
    registry,
    endpoints: options.endpoints ?? [],
    env: Object.freeze({ ...options.env }),
    ...(options.userEnv && { userEnv: options.userEnv }),
    models,
    sealing,
    memory: createMemory(options.memory ?? {}, {
      memories: stores.memories,
      identities: stores.identities,
      now: backend.clock?.now ?? Date.now,
      report: (error) => report(error, ""),
    }),
    trust: {
      authority: createAuthority(options.trust ?? {}, grants.hasGrant),
      consent: options.consent ?? decideByWord,
      ...(options.trust?.canDecide && { canDecide: options.trust.canDecide }),
    },
    progress,
    liveTexts: createLiveTexts(stores.liveText, { isShared }),
    reached: onPoint,
    report,
    now: backend.clock?.now ?? Date.now,
    ...(backend.clock && { clock: backend.clock }),
    isShared,
    ...(!isShared && runs && { news: new Set<string>() }),
    leaseMs,
    verifies: options.verifies ?? false,
  };
  const worker = new Worker(host, driver, {
    concurrency: options.concurrency ?? 64,
    pollMs,
    slice: 100,
    drainMs: options.drainMs ?? 10_000,
  });
  if (runs) {
    await worker.start().catch(async (thrown: unknown) => {
      await driver.close();
      throw thrown;
    });
  }

  const audit = createAudit({
    ...{ store: stores.audit, threads: stores.threads, now: host.now, reached: onPoint },
    signer,
  });
  const endHousekeeping = runs ? startHousekeeping(host, audit, options.housekeeping ?? {}) : async () => undefined;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      for (const signal of endSignals) process.off(signal, onSignal);
      if (runs) await worker.stop();
      await endHousekeeping();
      host.liveTexts.close();
      await driver.close();
      // Last, so that whoever still waits for a thread finds that nobody will tell, and does not wait for ever.
      progress.close();
    })();
    return closing;
  };
  const onSignal = (signal: NodeJS.Signals) => {
    closingOnSignal++;
    void close().finally(() => {
      closingOnSignal--;
      // Whoever else listens decides how the process ends; otherwise the signal does what it does without us.
      if (closingOnSignal === 0 && process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  };
  if (runs && (options.drainsOnSignal ?? true)) for (const signal of endSignals) process.once(signal, onSignal);

  const { threads } = stores;
  const requests = createRequests(host);
  return {
    threads: {
      async open(threadKey, given) {
        return createHandle(host, await openThread(host, threadKey, given));
      },
      async get(id) {
        const thread = isName(id) ? await threads.get(id) : undefined;
        if (!thread) throw threadNotFound(id);
        return createHandle(host, thread);
      },
      async list(query = {}) {
        checkQuery(query);
        return await threads.list(query);
      },
      async delete(id) {
        await onPoint("before delete");
        const deleted = isName(id) ? await threads.delete(id) : [];
        await onPoint("after delete");
        if (deleted.length === 0) throw threadNotFound(id);
        for (const each of deleted) progress.changed(each, true);
        return deleted;
      },
      async prune(given) {
        const { idleMs } = isMap(given) ? given : { idleMs: Number.NaN };
        checkNumber("idleMs", idleMs);
        return await pruneThreads(host, idleMs);
      },
      async retry(id) {
        checkName("id", id);
        if (await stores.engine.retry(id)) return;
        if (!(await threads.get(id))) throw threadNotFound(id);
        throw holdfastError("thread_not_stuck", `Thread "${id}" is not stuck.`);
      },
    },
    requests,
    approvals: {
      ...createPendingActions({
        ...{ store: stores.actions, sealing, handlers: options.trust?.actionHandlers ?? {} },
        observers: options.trust?.actionObservers ?? [],
        now: () => new Date(host.now()),
        others: createApprovalQueue(host, requests),
      }),
      remembered: approvalMemory,
    },
    tokens: createTokens({ store: stores.tokens, now: () => new Date(host.now()) }),
    grants,
    sessions: createSessions(host),
    audit,
    variables: createVariables(host),
    endpoints: { call: (given) => callEndpoint(host, given) },
    memories: host.memory.store,
    guidelines:
      options.guidelines === false
        ? null
        : createGuidelines(stores.guidelines, {
            holdsCapability: options.trust?.holdsCapability ?? (() => false),
            ...options.guidelines,
          }),
    budgets: createBudgets(stores.budgets),
    calls: {
      async unknown({ limit = 100 } = {}) {
        checkNumber("limit", limit);
        return await threads.unknownCalls(limit);
      },
      async settle({ thread_id, run, number }, result) {
        checkName("thread_id", thread_id);
        checkNumber("run", run);
        checkNumber("number", number);
        const call = await threads.call(thread_id, run, number);
        if (call?.phase !== "unknown") {
          throw holdfastError("call_not_unknown", `Call ${number} of run ${run} is not of unknown outcome.`);
        }
        const found = await shownSettlement(host, call, result);
        const entry = createEntry.settlement(run, number, found, { key: `${run}:${number}` });
        await onPoint(`before put ${entry.kind}`);
        const { outcome } = await stores.inbox.put(thread_id, entry);
        await onPoint(`after put ${entry.kind}`);
        if (outcome === "stored" || outcome === "repeated") return;
        throw holdfastError(
          "call_not_unknown",
          `Call ${number} of run ${run} was settled before, or its thread is over.`,
        );
      },
    },
    close,
  };
}

/** The models of every agent and prompt, ready to be asked. Throws what keeps one of them from that. */
async function readyForAll(registry: Registry): Promise<ReadonlyMap<string, readonly ReadyModel[]>> {
  const ready = new Map<string, readonly ReadyModel[]>();
  for (const [slug, agent] of registry.agents) {
    if (agent.style !== "agents_api") continue;
    const models = await readyModels(agent.model, process.env);
    if (agent.limits.usd !== undefined) checkPrices(models, `The agent "${slug}"`);
    ready.set(slug, models);
  }
  for (const prompt of registry.prompts.values()) {
    ready.set(modelKey(prompt.name), await readyModels(registry.choicesOf(prompt), process.env));
  }
  for (const agent of registry.agents.values()) {
    if (agent.limits.usd === undefined) continue;
    for (const name of promptsOf(registry, agent)) {
      const models = ready.get(modelKey(name));
      if (models) checkPrices(models, `The agent "${agent.slug}"`);
    }
  }
  return ready;
}

/** The prompts that speak for an agent, and those that they use as tools. */
function promptsOf(registry: Registry, agent: Agent): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (prompt: Prompt | undefined): void => {
    if (!prompt || names.has(prompt.name)) return;
    names.add(prompt.name);
    for (const entry of registry.entriesOf(prompt)) if (entry.kind === "prompt") visit(entry.prompt);
  };
  for (const side of ["a", "b"] as const) visit(registry.promptOf(agent, side));
  return names;
}

/** Whoever is told of errors may fail too: that ends nothing here. */
function reporting(onError: (error: unknown, threadId: string) => void, secrets: KnownSecrets): Host["report"] {
  return (error, threadId) => {
    try {
      onError(shownError(error, secrets), threadId);
    } catch {
      // There is nobody left to tell.
    }
  };
}

/** What went wrong in a line, and what to do about it in another. */
function printError(error: unknown, threadId: string): void {
  console.error(`holdfast: ${threadId === "" ? "" : `thread ${threadId}: `}${errorMessage(error)}`);
  if (error instanceof HoldfastError) console.error(`holdfast: ${error.hint}`);
}

/** The key comes after the database: a path that is wrong is told as such, and no key is left behind for it. */
async function openSealed(driver: SqlDriver, { backend, secretKey }: HoldfastOptions) {
  const key = readSecretKey({
    given: secretKey,
    env: process.env,
    keyFile: backend.keyFile,
    // What is sealed already would not open with a new key.
    mayMake: !(await knowsKey(driver)),
    ephemeral: backend.name === "sqlite" && backend.keyFile === undefined,
  });
  const sealing = createSealing(key);
  const signer = createSigner(sealing.signingSeed());
  const stores = await openStores(driver, { keyFingerprint: sealing.fingerprint, sign: signer.sign });
  return { sealing, signer, stores };
}

/** Runtimes of this process that come to their end because of a signal: the last one lets the process go. */
let closingOnSignal = 0;

const endSignals = ["SIGTERM", "SIGINT"] as const;
