// The runtime, wired: a database, the agents, a worker, and the handles with which everything is done.
import { createOperations } from "./abilities/catalogue.ts";
import { createDesk, type Desk } from "./abilities/desk.ts";
import { createWorkbench } from "./abilities/reach.ts";
import { agentsApiOperations } from "./agents-api/operations/agents-api-operations.ts";
import { createAudit } from "./audit/audit.ts";
import { knowsKey, openStores } from "./backend/sql/open-stores.ts";
import type { Backend, SqlDriver } from "./backend/sql-driver.ts";
import type { Channel } from "./channels/channel.ts";
import type { Channels } from "./channels/channels.ts";
import { setUpChannels } from "./channels/set-up.ts";
import { createSigner } from "./contracts/audit/signer.ts";
import type { ChatHandlers } from "./contracts/chat/chat-handlers.ts";
import { holdfastError } from "./contracts/error.ts";
import type { Hooks } from "./contracts/hooks.ts";
import type { JsonMap } from "./contracts/json.ts";
import type { CanDecide } from "./contracts/trust/approver-rule.ts";
import { type ConsentPolicy, decide as decideByWord } from "./contracts/trust/consent.ts";
import * as workspaces from "./contracts/workspace.ts";
import { ignoreCrashPoints, type OnCrashPoint } from "./engine/crash-points.ts";
import { createMembership } from "./engine/membership.ts";
import { modelFromConfig } from "./gateway/agent/process/model-from-config.ts";
import { type GatewaySetup, setUpGateway } from "./gateway/dispatch/set-up.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { gatewayMetrics } from "./gateway/gateway-metrics.ts";
import { gatewayOperations } from "./gateway/operations/gateway-operations.ts";
import type { Memories } from "./memory/checked-memories.ts";
import { createGuidelines, type GuidelinesOptions } from "./memory/guidelines.ts";
import { checkMemory, createMemory, forgettingAlso, type MemoryOptions } from "./memory/memory.ts";
import { readyModels } from "./models/choose/ready-models.ts";
import { DEMO } from "./models/choose/unnamed-model.ts";
import type { Model } from "./models/model.ts";
import type { ReadyModel } from "./models/model-choice.ts";
import { cappingModels } from "./models/provider-caps.ts";
import type { Agent } from "./threads/agent.ts";
import { modelKey } from "./threads/asking/models-of.ts";
import { createCalls } from "./threads/calls/create-calls.ts";
import { type Caps, capsProblem } from "./threads/caps.ts";
import { createSessions } from "./threads/consent/sessions.ts";
import { createCounters } from "./threads/counters.ts";
import { createThreads } from "./threads/create-threads.ts";
import type { EffectDefinition } from "./threads/definitions/effect.ts";
import type { Endpoint } from "./threads/definitions/endpoint.ts";
import type { HookDefinition } from "./threads/definitions/hook.ts";
import type { ModelDefinition } from "./threads/definitions/model.ts";
import type { Prompt } from "./threads/definitions/prompt.ts";
import { createRegistry, type Registry } from "./threads/definitions/registry.ts";
import { diagnose } from "./threads/diagnose.ts";
import { endingOnSignal } from "./threads/ending-on-signal.ts";
import { callEndpoint } from "./threads/endpoints.ts";
import { checkPrices } from "./threads/funds/agent-funds.ts";
import { createBudgets } from "./threads/funds/budgets.ts";
import type { Host } from "./threads/host.ts";
import { type HousekeepingOptions, housekeepingProblem, startHousekeeping } from "./threads/housekeeping.ts";
import { readMetrics } from "./threads/metrics.ts";
import { createProgress } from "./threads/progress.ts";
import { printError, reporting } from "./threads/reporting.ts";
import { createApprovalQueue } from "./threads/requests/approval-queue.ts";
import { createRequests } from "./threads/requests/requests.ts";
import type { Runtime } from "./threads/runtime.ts";
import { installationSecrets } from "./threads/secrets/installation-secrets.ts";
import { createSealing } from "./threads/secrets/sealing.ts";
import { readSecretKey } from "./threads/secrets/secret-key.ts";
import { createLiveTexts } from "./threads/stream/live-texts.ts";
import { createVariables } from "./threads/subagents/variables.ts";
import { createSwitches } from "./threads/switches.ts";
import type { Tool } from "./threads/tool.ts";
import { Worker } from "./threads/worker.ts";
import type { ActionHandler, ActionObserver } from "./trust/action-handler.ts";
import { createApprovalMemory } from "./trust/approval-memory.ts";
import { type AuthorityOptions, createAuthority, holdsCapability } from "./trust/authority.ts";
import { createGrants } from "./trust/grants.ts";
import { createPendingActions } from "./trust/pending-actions.ts";
import { createTokens } from "./trust/tokens.ts";
import { givenWorkflows } from "./workflows/durable/given-workflows.ts";
import type { RunHost } from "./workflows/durable/run-host.ts";
import { stepOperations } from "./workflows/durable/step-operations.ts";
import { createRunWorker } from "./workflows/durable/worker.ts";
import { createWorkflows, type WorkflowsRuntime } from "./workflows/durable/workflows.ts";
import { careOperations } from "./workflows/operate/care-operations.ts";
import { diagnoseRuns } from "./workflows/operate/diagnose-runs.ts";
import { eraseRunsOf, pruneRuns } from "./workflows/operate/prune-runs.ts";
import { createRunCare, type RunCare } from "./workflows/operate/run-care.ts";
import { readRunMetrics } from "./workflows/operate/run-metrics.ts";
import { workflowOperations } from "./workflows/operations/workflow-operations.ts";
import type { BuiltWorkflow } from "./workflows/steps/built-workflow.ts";
import type { StepFunctions } from "./workflows/steps/step-functions.ts";
import type { StepHandler } from "./workflows/steps/step-handlers.ts";
import type { StepType } from "./workflows/steps/step-type.ts";

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
  /** What can be started by its id: workflows of the program, and specs such as those of files. */
  readonly workflows?: readonly (BuiltWorkflow | JsonMap)[];
  /** Functions that steps of every workflow may run, by name. */
  readonly stepFunctions?: StepFunctions;
  /** Types of steps of every workflow: `stepType({ … })`. */
  readonly stepTypes?: readonly StepType[];
  /** Types of steps as the Agents API knows them. */
  readonly stepHandlers?: Readonly<Record<string, StepHandler>>;
  /** Runs of workflows that this process carries on at the same time; 256 unless given. With 0 it leaves them to others. */
  readonly runConcurrency?: number;
  /** How people elsewhere talk with agents: `webhookChannel({ … })`, or one of your own with `channel({ … })`. */
  readonly channels?: readonly Channel[];
  /**
   * The event gateway: the path of its YAML file, its configuration as an object, or `{ config, … }` with plugins and a
   * planner of the program's own. There is none unless given.
   */
  readonly gateway?: string | GatewaySetup | object;
  /** A host's say in every ability and chat: decisions before, observers after, made by `createHooks()`. */
  readonly abilityHooks?: Hooks;
  /** Answer chats in the place of threads, for agents that are not ours: `createChatHandlers()`. */
  readonly chatHandlers?: ChatHandlers;
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
  /** How much this process does at the same time for one owner, and of one provider; as much as it can unless given. */
  readonly caps?: Caps;
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
  readonly onPoint?: OnCrashPoint;
};

/** What a configuration file exports: everything but the database may be left to where it is run. */
export type Project = Omit<HoldfastOptions, "backend"> & Partial<Pick<HoldfastOptions, "backend">>;

export type TrustOptions = AuthorityOptions & {
  /** Asked when somebody decides about a proposed action, after every rule: only true lets the decision count. */
  readonly canDecide?: CanDecide;
  /** Who decides and applies what others than threads propose, by the kind of the action. */
  readonly actionHandlers?: Readonly<Record<string, ActionHandler>>;
  readonly actionObservers?: readonly ActionObserver[];
};

/** The runtime, and every operation on it by its name. */
export interface Holdfast extends Runtime {
  /** What can be asked for through any door. */
  readonly abilities: Desk;
  /** What comes in from elsewhere, with its own proof of who sent it. */
  readonly channels: Channels;
  /** Workflows, and the runs of them. */
  readonly workflows: WorkflowsRuntime & RunCare;
  /** Events, jobs, pipelines and agent runs; undefined without the option `gateway`. */
  readonly gateway: Gateway | undefined;
}

/** Opens the database, brings it up to date and begins to run what is due, what a crash has left behind included. */
export async function createHoldfast(options: HoldfastOptions): Promise<Holdfast> {
  const { channelling, registry, problems } = readDefinitions(options);
  const { agents } = registry;
  channelling.check(agents);
  checkMemory(options.memory ?? {});
  const { caps = {} } = options;
  const problem = housekeepingProblem(options.housekeeping ?? {}) ?? capsProblem(caps);
  if (problem !== undefined) throw holdfastError("invalid_argument", problem);
  const { stepTypes = [], stepHandlers } = options;
  const known = givenWorkflows({
    workflows: options.workflows ?? [],
    stepTypes,
    ...(stepHandlers && { stepHandlers }),
  });
  // Before anything is opened: a model that cannot be asked is a mistake to be told of at once.
  const models = (options.runs ?? true) ? await readyForAll(registry, caps) : new Map<string, readonly ReadyModel[]>();
  const { backend, leaseMs = 30_000, pollMs = 1_000, onPoint = ignoreCrashPoints } = options;
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
  const grants = createGrants({
    store: stores.grants,
    isByGrant: async (tokenId) => (await stores.tokens.get(tokenId))?.by_grant ?? false,
  });
  const approvalMemory = createApprovalMemory(stores.approvalMemory, sealing.bind);
  const closed = async (thrown: unknown) => {
    await driver.close();
    throw thrown;
  };
  const switches = await createSwitches({
    ...{ store: stores.switches, isShared, report: (error: unknown) => report(error, "") },
  }).catch(closed);
  // Where there is only this process, nobody can be at work on what another one has begun.
  if (!isShared) await stores.outcomes.free().catch(closed);
  const now = backend.clock?.now ?? Date.now;
  const tokens = createTokens({ store: stores.tokens, now });
  const host: Host = {
    stores,
    switches,
    counters: createCounters(),
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
      now,
      report: (error) => report(error, ""),
    }),
    trust: {
      authority: createAuthority(options.trust ?? {}, grants.hasGrant, tokens.isRevoked),
      consent: options.consent ?? decideByWord,
      ...(options.trust?.canDecide && { canDecide: options.trust.canDecide }),
    },
    progress,
    liveTexts: createLiveTexts(stores.liveText, { isShared }),
    onCrashPoint: onPoint,
    report,
    now,
    ...(backend.clock && { clock: backend.clock }),
    isShared,
    ...(!isShared && runs && { news: new Set<string>() }),
    leaseMs,
    verifies: options.verifies ?? false,
  };
  const { channels, bridge } = channelling.open(host, () => ({
    ...{ pendingActionStore: runtime.approvals, hooks: options.abilityHooks },
  }));
  const membership = createMembership({
    ...{ store: stores.membership, driver, leaseMs },
    report: (error) => report(error, ""),
  });
  const gateway =
    options.gateway === undefined
      ? undefined
      : await setUpGateway({
          ...{ setup: options.gateway, host, backend, driver, membership, tokens, secrets, runs, pollMs },
          ...{ drainMs: options.drainMs ?? 10_000, onCrashPoint: onPoint, chooseModel: modelOfAgent },
        }).catch(closed);
  const worker = new Worker(host, driver, membership, {
    concurrency: options.concurrency ?? 64,
    pollMs,
    slice: 100,
    drainMs: options.drainMs ?? 10_000,
    ...(caps.perOwner !== undefined && { perOwner: caps.perOwner }),
  });
  const runHost: RunHost = {
    keepAnswersMs: options.housekeeping?.retention?.outcomeMs ?? A_DAY_MS,
    threads: host,
    workflows: known,
    operations: (principal) => stepOperations(() => desk(), runtime.outcomes, principal),
    tools: new Map((options.tools ?? []).map((each) => [each.name, each])),
    stepTypes,
    functions: options.stepFunctions ?? {},
    ...(stepHandlers && { stepHandlers }),
    ...(options.abilityHooks && { hooks: options.abilityHooks }),
    // What the program itself starts may have every agent of the program work for it.
    mayUseAgent: async (principal, slug) =>
      principal.auth_source === "system"
        ? agents.has(slug)
        : await createWorkbench(runtime).reach.agent(slug, principal),
  };
  const runWorker = createRunWorker(runHost, driver, membership, {
    ...{ concurrency: options.runConcurrency ?? 256, pollMs, slice: 500, drainMs: options.drainMs ?? 10_000 },
  });
  if (runs) {
    await membership.join().catch(closed);
    worker.start();
    runWorker.start();
    gateway?.start();
  }

  const audit = createAudit({
    ...{ store: stores.audit, threads: stores.threads, now: host.now, reached: onPoint },
    signer,
  });
  const endHousekeeping = runs
    ? startHousekeeping(host, { audit, pruneRuns: (idleMs) => pruneRuns(host, idleMs) }, options.housekeeping ?? {})
    : async () => undefined;
  const close = endingOnSignal(runs && (options.drainsOnSignal ?? true), async () => {
    if (runs) {
      await Promise.all([worker.stop(), runWorker.stop(), gateway?.stop()]);
      await membership.leave();
    }
    await endHousekeeping();
    host.liveTexts.close();
    await driver.close();
    // Last, so that whoever still waits for a thread finds that nobody will tell, and does not wait for ever.
    progress.close();
  });

  const requests = createRequests(host);
  const runtime: Runtime = {
    threads: createThreads(host),
    requests,
    agents,
    authority: host.trust.authority,
    approvals: {
      ...createPendingActions({
        ...{ store: stores.actions, sealing, handlers: options.trust?.actionHandlers ?? {} },
        observers: options.trust?.actionObservers ?? [],
        now: () => new Date(host.now()),
        others: createApprovalQueue(host, requests),
      }),
      remembered: approvalMemory,
    },
    tokens,
    grants,
    sessions: createSessions(host),
    audit,
    variables: createVariables(host),
    endpoints: { call: (given) => callEndpoint(host, given) },
    memories: forgettingToo(host, gateway),
    guidelines:
      options.guidelines === false
        ? null
        : createGuidelines(stores.guidelines, {
            holdsCapability: holdsCapability(options.trust ?? {}),
            ...options.guidelines,
          }),
    budgets: createBudgets(stores.budgets),
    bridge,
    calls: createCalls(host),
    switches,
    metrics: async () => ({
      ...(await readMetrics(host, worker.active)),
      ...(await readRunMetrics(stores.workflows, runWorker.active)),
      ...(gateway && gatewayMetrics(await gateway.status())),
    }),
    async diagnose() {
      const found = await Promise.all([gateway?.diagnose(), diagnoseRuns(runHost), diagnose(host)]);
      const all = found.filter((each) => each !== undefined);
      return { healthy: all.every(({ healthy }) => healthy), findings: all.flatMap(({ findings }) => findings) };
    },
    outcomes: {
      ...{ store: stores.outcomes, sealing, keepMs: options.housekeeping?.retention?.outcomeMs ?? A_DAY_MS },
      report: (error) => report(error, ""),
    },
    close,
  };
  const workflows = { ...createWorkflows(runHost), ...createRunCare(runHost) };
  const { abilityHooks: hooks, chatHandlers: handlers } = options;
  const reportHere = (error: unknown) => report(error, "");
  const extensions = { report: reportHere, ...(hooks && { hooks }), ...(handlers && { handlers }) };
  const operationsBeside = () => {
    const workbench = createWorkbench(runtime);
    const ofGateway = gateway ? gatewayOperations(workbench, gateway) : [];
    const ofRuns = [...workflowOperations(workbench, workflows), ...careOperations(workbench, workflows)];
    return [...ofRuns, ...agentsApiOperations(workbench, workflows, runHost), ...ofGateway];
  };
  const createAbilities = () =>
    createDesk([...createOperations(runtime, extensions), ...operationsBeside()], {
      ...{ pendingActionStore: runtime.approvals, clean: (text: string) => secrets.clean(text) },
      report: reportHere,
      ...(hooks && { hooks }),
    });
  let abilities: Desk | undefined;
  // Made when they are first asked for: to make a hundred schemas takes longer than everything else here.
  const desk = () => {
    abilities ??= createAbilities();
    return abilities;
  };
  return {
    ...runtime,
    channels,
    gateway,
    workflows,
    get abilities() {
      return desk();
    },
  };
}

/** Throws what keeps a model of an agent or of a prompt from being asked, as a runtime that runs threads does. */
export async function checkModels(options: Omit<HoldfastOptions, "backend">): Promise<void> {
  await readyForAll(readDefinitions(options).registry, options.caps ?? {});
}

function readDefinitions(options: Omit<HoldfastOptions, "backend">) {
  const channelling = setUpChannels(options.channels);
  const effects = [...(options.effects ?? []), channelling.effect];
  return { channelling, ...createRegistry({ ...options, effects }) };
}

/**
 * Work that was done for a person goes with what is remembered about that person: runs of workflows, and where the person is
 * forgotten as a whole what the gateway holds, whose jobs belong to no workspace. Neither is kept by agent.
 */
function forgettingToo(host: Host, gateway: Gateway | undefined): Memories {
  return forgettingAlso(host.memory.store, async ({ user_id, agent_id, workspace }) => {
    if (user_id === undefined || agent_id !== undefined) return;
    if (workspace === undefined) await gateway?.eraseUser(`user:${user_id}`);
    const place = workspace === undefined ? null : workspaces.normalize(workspace);
    await eraseRunsOf(host, { user_id, ...(place && { workspace: place }) });
  });
}

/** The model that an agent's configuration names, else the one that the environment chooses; null for the demo. */
async function modelOfAgent(config: JsonMap): Promise<Model | null> {
  const hasNamed = typeof config.model === "string" && config.model.trim() !== "";
  const [ready] = hasNamed ? [await modelFromConfig(config, process.env)] : await readyModels(undefined, process.env);
  return ready && ready.name !== DEMO ? ready.ask : null;
}

/** The models of every agent and prompt, ready to be asked. Throws what keeps one of them from that. */
async function readyForAll(
  registry: Registry,
  { perProvider = {} }: Caps,
): Promise<ReadonlyMap<string, readonly ReadyModel[]>> {
  const ready = new Map<string, readonly ReadyModel[]>();
  const capped = cappingModels(perProvider);
  for (const [slug, agent] of registry.agents) {
    if (agent.style !== "agents_api") continue;
    const models = capped(await readyModels(agent.model, process.env));
    if (agent.limits.usd !== undefined) checkPrices(models, `The agent "${slug}"`);
    ready.set(slug, models);
  }
  for (const prompt of registry.prompts.values()) {
    ready.set(modelKey(prompt.name), capped(await readyModels(registry.choicesOf(prompt), process.env)));
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

/** How long the first outcome of a write is kept. */
const A_DAY_MS = 86_400_000;
