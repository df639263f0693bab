// What the statements cost that every step needs, as tests: they find their rows by an index, however many threads and
// messages there are.
import { expect, it } from "vitest";
import { aCommit, anEntry, MINUTE } from "./contract/a-commit.ts";
import { aChildJob, aContext, aJob, aJobCommit, claimJob, retries } from "./contract/a-job.ts";
import { aStop } from "./contract/a-write.ts";
import { claim, type StoresInTest, TABLES } from "./contract/stores-in-test.ts";
import type { SqlDriver, Statement } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";

const THREADS = 3_000;

type Database = SqlDriver["name"];

/** What a plan has to say on each database. */
type Index = Readonly<Record<Database, RegExp>>;

const named = (name: string): Index => ({ sqlite: new RegExp(name), postgres: new RegExp(name) });

const LAID_DOWN = { wake_rev: 3, due_after: null };

const JOB_BY_ID: Index = {
  sqlite: /gateway_jobs USING (COVERING )?INDEX \w+ \(id=\?\)/,
  postgres: /gateway_jobs_id_key/,
};
const IN_ORDER: Index = { sqlite: /workflow_runs_created/, postgres: /Backward using workflow_runs_created/ };
/** As it was claimed. */
const leasedJob = (n: number) => ({ id: `job ${n}`, epoch: 5, root_job_id: `job ${n}`, dedupe_hash: `hash ${n}` });

const verbs: readonly { verb: string; run(stores: Stores): Promise<unknown>; indexes: readonly Index[] }[] = [
  {
    verb: "claim",
    run: (stores) => claim(stores, { limit: 10 }),
    // Not only in the order of the index: a thread that waits for tomorrow must not be looked at today.
    indexes: [named("threads_due"), { sqlite: /threads_due \(due_at<\?\)/, postgres: /Index Cond: \(.*due_at <= / }],
  },
  {
    verb: "nextDue",
    run: ({ engine }) => engine.nextDue({ agents: ["support", "sales"], state_version: 1 }),
    indexes: [named("threads_due")],
  },
  {
    verb: "claim of workflows",
    run: ({ engine }) =>
      engine.claim({ kind: "workflow", state_version: 1, worker: "worker 1", limit: 10, lease_us: MINUTE, except: [] }),
    indexes: [
      { sqlite: /threads_due_others \(kind=\? AND due_at<\?\)/, postgres: /threads_due_others[\s\S]*due_at <= / },
    ],
  },
  {
    verb: "nextDue of workflows",
    run: ({ engine }) => engine.nextDue({ kind: "workflow", state_version: 1 }),
    indexes: [named("threads_due_others")],
  },
  {
    verb: "a run of a workflow",
    run: ({ workflows }) => workflows.get("workflow 7"),
    indexes: [{ sqlite: /workflow_runs USING INDEX \w+ \(run_id=\?\)/, postgres: /workflow_runs_pkey/ }],
  },
  {
    verb: "runs of workflows",
    run: ({ workflows }) => workflows.list({ limit: 10 }),
    indexes: [IN_ORDER],
  },
  {
    verb: "runs of workflows behind a place",
    run: ({ workflows }) => workflows.list({ behind: { created_at: 700, id: "workflow 700" }, limit: 10 }),
    // From the place on, and not from the newest until there are enough.
    indexes: [{ sqlite: /workflow_runs_created \(.*</, postgres: /workflow_runs_created.*\n.*Index Cond/ }],
  },
  {
    verb: "runs of workflows without a parent",
    run: ({ workflows }) => workflows.list({ parent: null, limit: 10 }),
    indexes: [IN_ORDER],
  },
  {
    verb: "runs of one workflow",
    run: ({ workflows }) => workflows.list({ workflow_id: "workflow 7", limit: 10 }),
    indexes: [
      { sqlite: /workflow_runs_of_workflows \(workflow_id=\?\)/, postgres: /workflow_runs_(of_workflows|by_status)/ },
    ],
  },
  {
    verb: "runs of workflows that are suspended",
    run: ({ workflows }) => workflows.list({ status: "suspended", limit: 10 }),
    indexes: [{ sqlite: /workflow_runs_standing \(status=\?\)/, postgres: /workflow_runs_standing/ }],
  },
  {
    verb: "runs of one workflow that have failed",
    run: ({ workflows }) => workflows.list({ workflow_id: "workflow 7", status: "failed", limit: 10 }),
    indexes: [
      { sqlite: /workflow_runs_by_status \(workflow_id=\? AND status=\?\)/, postgres: /workflow_runs_by_status/ },
    ],
  },
  {
    verb: "runs of workflows with a tag",
    run: ({ workflows }) => workflows.list({ tag: "tag 7", limit: 10 }),
    indexes: [{ sqlite: /workflow_run_tags_found \(tag=\?\)/, postgres: /workflow_run_tags_found/ }],
  },
  {
    verb: "runs of workflows of an owner",
    run: ({ workflows }) => workflows.list({ owner: { type: "user", key: "run 7" }, limit: 10 }),
    indexes: [
      named("thread_subjects_owned"),
      { sqlite: /workflow_runs USING INDEX \w+ \(run_id=\?\)/, postgres: /workflow_runs_pkey/ },
    ],
  },
  {
    verb: "runs of workflows below another",
    run: ({ workflows }) => workflows.list({ parent: "workflow 7", limit: 10 }),
    indexes: [
      named("threads_children"),
      { sqlite: /workflow_runs USING INDEX \w+ \(run_id=\?\)/, postgres: /workflow_runs_pkey/ },
    ],
  },
  {
    verb: "runs of workflows with a problem",
    run: ({ workflows }) => workflows.problems(10),
    indexes: [named("workflow_runs_problems")],
  },
  {
    verb: "runs of workflows that are stuck",
    run: ({ workflows }) => workflows.stuck(10),
    indexes: [named("threads_stuck_others")],
  },
  {
    verb: "runs of workflows that are overdue",
    run: ({ workflows }) => workflows.overdue({ for_us: 1_000, limit: 10 }),
    indexes: [
      { sqlite: /threads_due_others \(kind=\? AND due_at<\?\)/, postgres: /threads_due_others[\s\S]*due_at <= / },
    ],
  },
  {
    verb: "runs of workflows that were put off",
    run: ({ workflows }) => workflows.putOff({ within_us: 1_000, limit: 10 }),
    indexes: [
      { sqlite: /threads_due_others \(kind=\? AND due_at<\?\)/, postgres: /threads_due_others[\s\S]*due_at <= / },
    ],
  },
  {
    verb: "runs of workflows that ended long ago",
    run: ({ workflows }) => workflows.prunable({ for_us: 1_000, limit: 10, after: "workflow 7" }),
    indexes: [
      {
        sqlite: /COVERING INDEX workflow_runs_ended \(run_id>\?\)/,
        postgres: /workflow_runs_ended/,
      },
    ],
  },
  {
    verb: "events that no step has taken",
    run: ({ workflows }) => workflows.waitingEvents("workflow 7"),
    indexes: [{ sqlite: /inbox_waiting \(thread_id=\?\)/, postgres: /inbox_waiting/ }],
  },
  {
    verb: "the steps of a run",
    run: ({ workflows }) => workflows.steps("workflow 5", { after: { parent: "1", position: 700 }, limit: 10 }),
    indexes: [
      // In its order, so that it ends with the page.
      {
        sqlite: /workflow_steps USING INDEX \w+ \(run_id=\? AND \(parent,position\)>\(\?,\?\)\)/,
        postgres: /workflow_steps_pkey/,
      },
    ],
  },
  {
    verb: "the steps below a step",
    run: ({ workflows }) => workflows.steps("workflow 5", { below: "1/7", limit: 10 }),
    indexes: [
      {
        sqlite: /workflow_steps USING INDEX \w+ \(run_id=\? AND parent=\? AND position=\?\)/,
        postgres: /workflow_steps_pkey/,
      },
      { sqlite: /workflow_steps USING INDEX \w+ \(run_id=\? AND parent>\? AND parent<\?\)/, postgres: /parent >= / },
    ],
  },
  {
    verb: "steps at some places",
    run: ({ workflows }) =>
      workflows.stepsAt("workflow 5", [
        { parent: "1", position: 700 },
        { parent: "", position: 1 },
      ]),
    indexes: [
      {
        sqlite: /workflow_steps USING INDEX \w+ \(run_id=\? AND parent=\? AND position=\?\)/,
        postgres: /workflow_steps_pkey/,
      },
    ],
  },
  {
    verb: "the steps that can be undone",
    run: ({ workflows }) => workflows.undoable("workflow 5"),
    indexes: [named("workflow_steps_undoable")],
  },
  {
    verb: "the steps of a run, counted",
    run: ({ workflows }) => workflows.counts("workflow 7"),
    indexes: [{ sqlite: /workflow_steps USING INDEX \w+ \(run_id=\?\)/, postgres: /workflow_steps_pkey/ }],
  },
  {
    verb: "commit of a run of a workflow",
    run: ({ threads }) => {
      const place = { run_id: "workflow 38", parent: "", position: 0 };
      const status = { write: "workflow_status", run_id: "workflow 38", status: "running", reason: null } as const;
      const step = { write: "workflow_step", ...place, status: "running", opened: "opened" } as const;
      const writes = [status, step, { write: "workflow_step_gone", ...place } as const];
      return threads.commit(aCommit({ id: "thread 48", epoch: 1 }, { writes }));
    },
    indexes: [
      { sqlite: /workflow_runs USING INDEX \w+ \(run_id=\?\)/, postgres: /workflow_runs_pkey/ },
      {
        sqlite: /workflow_steps USING INDEX \w+ \(run_id=\? AND parent=\? AND position=\?\)/,
        postgres: /workflow_steps_pkey/,
      },
    ],
  },
  {
    verb: "renew",
    run: ({ engine }) => engine.renew("worker 1", ["thread 8", "thread 18"], MINUTE),
    indexes: [{ sqlite: /threads USING INDEX/, postgres: /threads_(leased|pkey)/ }],
  },
  {
    verb: "load",
    run: ({ threads }) => threads.load("thread 7"),
    indexes: [
      { sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ },
      { sqlite: /answers USING INDEX \w+ \(thread_id=\?\)/, postgres: /answers_pkey/ },
      { sqlite: /thread_arguments USING INDEX \w+ \(thread_id=\?\)/, postgres: /thread_arguments_pkey/ },
      { sqlite: /thread_subjects USING INDEX \w+ \(thread_id=\?\)/, postgres: /thread_subjects_pkey/ },
      { sqlite: /messages USING INDEX \w+ \(thread_id=\? AND seq>\?\)/, postgres: /messages_pkey/ },
    ],
  },
  {
    verb: "glance",
    run: ({ threads }) => threads.glance("thread 7"),
    indexes: [
      { sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ },
      { sqlite: /thread_subjects USING INDEX \w+ \(thread_id=\?\)/, postgres: /thread_subjects_pkey/ },
      { sqlite: /inbox_waiting \(thread_id=\?\)/, postgres: /inbox_waiting/ },
    ],
  },
  {
    verb: "currentMessages",
    run: ({ threads }) => threads.currentMessages("thread 5", { after: 4, limit: 3 }),
    indexes: [
      // In its order, so that it ends with the page.
      { sqlite: /said USING INDEX \w+ \(thread_id=\? AND seq>\?\)/, postgres: /messages_pkey on messages said/ },
      { sqlite: /messages_superseding \(thread_id=\? AND supersedes=\?\)/, postgres: /messages_superseding/ },
    ],
  },
  {
    verb: "lastMessages",
    run: ({ threads }) => threads.lastMessages("thread 5", { before: null, limit: 3 }),
    indexes: [
      { sqlite: /said USING INDEX \w+ \(thread_id=\? AND seq<\?\)/, postgres: /Backward using messages_pkey/ },
      { sqlite: /messages_superseding \(thread_id=\? AND supersedes=\?\)/, postgres: /messages_superseding/ },
    ],
  },
  {
    verb: "isDeleted",
    run: ({ threads }) => threads.isDeleted("thread 5", 7),
    indexes: [{ sqlite: /messages_superseding \(thread_id=\? AND supersedes=\?\)/, postgres: /messages_superseding/ }],
  },
  {
    verb: "byKey",
    run: ({ threads }) => threads.byKey("key 7"),
    indexes: [{ sqlite: /threads USING INDEX \w+ \(thread_key=\?\)/, postgres: /threads_thread_key_key/ }],
  },
  {
    verb: "the beginning of a run",
    run: ({ threads }) => threads.firstEventOf("thread 5", 200),
    indexes: [{ sqlite: /runs USING INDEX \w+ \(thread_id=\? AND run=\?\)/, postgres: /runs_pkey/ }],
  },
  {
    verb: "the events of a run",
    run: ({ threads }) => threads.eventsOfRun("thread 5", 200),
    indexes: [{ sqlite: /events USING INDEX \w+ \(thread_id=\? AND seq>\?\)/, postgres: /events_pkey/ }],
  },
  {
    verb: "runs",
    run: ({ threads }) => threads.runs("thread 5", { after: 1, limit: 10 }),
    indexes: [{ sqlite: /runs USING INDEX \w+ \(thread_id=\? AND run>\?\)/, postgres: /runs_pkey/ }],
  },
  {
    verb: "list",
    run: ({ threads }) => threads.list({ limit: 10 }),
    indexes: [named("threads_created")],
  },
  {
    verb: "list of those that wait",
    run: ({ threads }) => threads.list({ status: "waiting", limit: 10 }),
    indexes: [{ sqlite: /threads_resting \(status=\?\)/, postgres: /threads_resting/ }],
  },
  {
    verb: "list of those that are stuck",
    run: ({ threads }) => threads.list({ status: "stuck", limit: 10 }),
    indexes: [{ sqlite: /threads_stuck/, postgres: /threads_stuck/ }],
  },
  {
    verb: "list of an owner",
    run: ({ threads }) => threads.list({ owner: { type: "user", key: "7" }, limit: 10 }),
    indexes: [
      { sqlite: /thread_subjects_owned \(owner_type=\? AND owner_key=\?\)/, postgres: /thread_subjects_owned/ },
      // Those alone, and not all threads in the order of their creation until there are enough.
      { sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ },
    ],
  },
  {
    verb: "list of an owner after a page",
    run: ({ threads }) => threads.list({ owner: { type: "user", key: "7" }, after: "thread 307", limit: 10 }),
    indexes: [
      named("thread_subjects_owned"),
      { sqlite: /SEARCH threads USING INDEX sqlite_autoindex_threads_1 \(id=\?\)/, postgres: /threads_pkey/ },
    ],
  },
  {
    verb: "list of a workspace",
    run: ({ threads }) => threads.list({ workspace: "place 7", limit: 10 }),
    indexes: [
      { sqlite: /thread_subjects_placed \(place_id=\?\)/, postgres: /thread_subjects_placed/ },
      { sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ },
    ],
  },
  {
    verb: "commit",
    run: ({ threads }) => threads.commit(aCommit({ id: "thread 8", epoch: 1 }, { drained: [1] })),
    indexes: [{ sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ }],
  },
  {
    verb: "commit that lays the thread down",
    run: ({ threads }) => threads.commit(aCommit({ id: "thread 18", epoch: 1 }, { settle: LAID_DOWN })),
    indexes: [named("effects_open")],
  },
  {
    verb: "giveBack",
    run: ({ engine }) => engine.giveBack({ id: "thread 28", epoch: 1, wake_rev: 3 }, null),
    indexes: [named("effects_open")],
  },
  {
    verb: "commit that writes to another thread",
    run: ({ threads }) => {
      const entry = { write: "entry", thread_id: "thread 7", entry: anEntry() } as const;
      const answer = { write: "answer", thread_id: "thread 7", request_id: "request 7 1" } as const;
      const writes = [entry, { ...answer, body: "{}", payload_hash: "hash" }];
      return threads.commit(aCommit({ id: "thread 38", epoch: 1 }, { writes }));
    },
    indexes: [{ sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ }],
  },
  {
    verb: "requests of an owner",
    run: ({ requests }) => requests.list({ owner: { type: "user", key: "7" }, status: "pending", limit: 10 }),
    indexes: [named("thread_subjects_owned"), named("requests_(pending|of_threads)")],
  },
  {
    verb: "requests with a rule",
    run: ({ requests }) => requests.list({ ruled: true, status: "pending", limit: 10 }),
    indexes: [named("requests_(approvals|pending)")],
  },
  {
    verb: "terminate",
    run: ({ threads }) => threads.terminate("thread 9", aStop()),
    indexes: [
      named("threads_(live_)?children"),
      named("effects_(open|created)"),
      named("requests_(pending|of_threads)"),
    ],
  },
  {
    verb: "delete",
    run: ({ threads }) => threads.delete("thread 19"),
    indexes: [named("threads_children"), named("requests_(pending|of_threads)")],
  },
  {
    verb: "children",
    run: ({ threads }) => threads.children("thread 7", { live: true, limit: 10 }),
    indexes: [named("threads_(live_)?children")],
  },
  {
    verb: "children",
    run: ({ threads }) => threads.children("thread 7", { after: "thread 8", limit: 10 }),
    indexes: [named("threads_children")],
  },
  {
    verb: "liveChildren",
    run: ({ threads }) => threads.liveChildren("thread 7", "helper"),
    indexes: [named("threads_live_children")],
  },
  {
    verb: "ancestors",
    run: ({ threads }) => threads.ancestors("thread 1507"),
    indexes: [{ sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ }],
  },
  {
    verb: "descendants",
    run: ({ threads }) => threads.descendants("thread 7"),
    indexes: [named("threads_(live_)?children")],
  },
  {
    verb: "agentsBelow",
    run: ({ threads }) => threads.agentsBelow("thread 7"),
    indexes: [named("threads_(live_)?children")],
  },
  {
    verb: "dueEffect",
    run: ({ state }) => state.dueEffect("thread 7"),
    indexes: [named("effects_open")],
  },
  {
    verb: "effects",
    run: ({ state }) => state.effects("thread 7", {}),
    indexes: [named("effects_created")],
  },
  {
    verb: "a file",
    run: async ({ files }) => [await files.get("thread 7", "/file 1"), await files.content("hash 7")],
    indexes: [
      { sqlite: /files USING INDEX \w+ \(thread_id=\? AND path=\?\)/, postgres: /files_pkey/ },
      { sqlite: /blobs USING INDEX \w+ \(hash=\?\)/, postgres: /blobs_pkey/ },
    ],
  },
  {
    verb: "values and variables",
    run: async ({ state }) => [await state.value("thread 7", "value 1"), await state.variables("thread 7")],
    indexes: [
      { sqlite: /thread_values USING INDEX \w+ \(thread_id=\? AND name=\?\)/, postgres: /thread_values_pkey/ },
      { sqlite: /variables USING INDEX \w+ \(thread_id=\?\)/, postgres: /variables_pkey/ },
    ],
  },
  {
    verb: "put",
    run: ({ inbox }) => inbox.put("thread 7", anEntry()),
    indexes: [{ sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ }],
  },
  {
    verb: "waiting",
    run: ({ inbox }) => inbox.waiting("thread 7"),
    indexes: [named("inbox_waiting")],
  },
  {
    verb: "pending actions",
    run: ({ actions }) => actions.list({ status: "pending" }, { limit: 10 }),
    indexes: [named("pending_actions_waiting")],
  },
  {
    verb: "pending actions after a page",
    run: ({ actions }) => actions.list({}, { limit: 10, after: { created_at: 7, id: "action 7" } }),
    // From the place on, and not from the beginning until there are enough.
    indexes: [{ sqlite: /pending_actions_stored \(.*>/, postgres: /pending_actions_stored.*\n.*Index Cond/ }],
  },
  {
    verb: "unknownCalls",
    run: ({ threads }) => threads.unknownCalls(10),
    indexes: [named("calls_unknown")],
  },
  {
    verb: "claim of a job",
    run: (stores) =>
      claimJob(stores, { max_workers: 1_000, parallelism: { echo: 1_000, fetch: 1 }, except: ["job 7"] }),
    indexes: [
      JOB_BY_ID,
      named("gateway_jobs_(leased|running)"),
      // Straight to the first job of a plugin, however many it has.
      { sqlite: /gateway_jobs_queue \(plugin>\?\)/, postgres: /Index Only Scan using gateway_jobs_queue/ },
      { sqlite: /gateway_jobs_queue \(plugin=\?\)/, postgres: /Index Cond: \(\(plugin = waiting/ },
      { sqlite: /gateway_jobs USING INTEGER PRIMARY KEY/, postgres: /gateway_jobs_pkey/ },
      { sqlite: /gateway_payloads USING INDEX \w+ \(job_id=\?\)/, postgres: /gateway_payloads_pkey/ },
      { sqlite: /gateway_contexts USING INDEX \w+ \(id=\?\)/, postgres: /gateway_contexts_pkey/ },
    ],
  },
  {
    verb: "nextDue of jobs",
    run: ({ gateway }) => gateway.jobs.nextDue(),
    indexes: [named("gateway_jobs_due")],
  },
  {
    verb: "renew of jobs",
    run: ({ gateway }) => gateway.jobs.renew("worker 1", ["job 8", "job 18"], MINUTE),
    indexes: [{ sqlite: /gateway_jobs USING INDEX/, postgres: /gateway_jobs_(leased|id_key)/ }],
  },
  {
    verb: "commit of a job",
    run: ({ gateway }) => {
      const job = leasedJob(28);
      const children = [aChildJob(job, { dedupe: { hash: "new hash", keep_us: MINUTE } })];
      const state = { plugin: "echo", sealed_state: "{}", revision: 0 };
      const stream = [{ type: "job.completed", data: "{}", job_id: job.id }];
      const worker = "worker 0";
      return gateway.jobs.commit(aJobCommit(job, { worker, children, contexts: [aContext()], state, stream }));
    },
    indexes: [
      JOB_BY_ID,
      { sqlite: /gateway_trees USING INDEX \w+ \(root_job_id=\?\)/, postgres: /gateway_trees_pkey/ },
      { sqlite: /gateway_dedupe USING INDEX \w+ \(hash=\?\)/, postgres: /gateway_dedupe_pkey/ },
    ],
  },
  {
    verb: "commit of a job that is tried again",
    run: ({ gateway }) => {
      const commit = { worker: "worker 3", settlement: retries(MINUTE) };
      return gateway.jobs.commit(aJobCommit(leasedJob(38), commit));
    },
    indexes: [JOB_BY_ID],
  },
  {
    verb: "enqueue",
    run: ({ gateway }) => gateway.jobs.enqueue([aJob({ dedupe: { hash: "hash 7", keep_us: MINUTE } })]),
    indexes: [],
  },
  {
    verb: "cancel of a job",
    run: ({ gateway }) => gateway.jobs.cancel("job 10", "user:1"),
    indexes: [JOB_BY_ID],
  },
  {
    verb: "a job with its history",
    run: ({ gateway }) => Promise.all([gateway.jobs.get("job 7"), gateway.jobs.transitions("job 7")]),
    indexes: [
      JOB_BY_ID,
      { sqlite: /gateway_attempts USING INDEX \w+ \(job_id=\?\)/, postgres: /gateway_attempts_pkey/ },
    ],
  },
  {
    verb: "jobs",
    run: ({ gateway }) => gateway.jobs.list({ limit: 10, after: { created_at: 700, id: "job 700" } }),
    indexes: [{ sqlite: /gateway_jobs_created \(.*</, postgres: /gateway_jobs_created.*\n.*Index Cond/ }],
  },
  {
    verb: "jobs that have failed",
    run: ({ gateway }) => gateway.jobs.list({ statuses: ["failed"], limit: 10 }),
    indexes: [{ sqlite: /gateway_jobs_ended \(status=\?/, postgres: /gateway_jobs_ended/ }],
  },
  {
    verb: "jobs of a tree",
    run: ({ gateway }) => Promise.all([gateway.jobs.tree("job 7"), gateway.jobs.outstanding("job 7")]),
    indexes: [
      { sqlite: /gateway_jobs_of_trees \(root_job_id=\?\)/, postgres: /gateway_jobs_of_trees/ },
      { sqlite: /gateway_trees USING INDEX \w+ \(root_job_id=\?\)/, postgres: /gateway_trees_pkey/ },
    ],
  },
  {
    verb: "outstanding jobs of a schedule",
    run: ({ gateway }) => gateway.jobs.outstandingOf("schedule 7"),
    indexes: [{ sqlite: /gateway_jobs_scheduled \(source_event_id=\?\)/, postgres: /gateway_jobs_scheduled/ }],
  },
  {
    verb: "the log of jobs",
    run: ({ gateway }) => gateway.jobs.log({ limit: 10, after: { created_at: 700, id: "job 700" } }),
    indexes: [
      { sqlite: /gateway_jobs_created \(.*</, postgres: /gateway_jobs_created.*\n.*Index Cond/ },
      { sqlite: /gateway_logged_jobs_created \(.*</, postgres: /gateway_logged_jobs_created.*\n.*Index Cond/ },
    ],
  },
  {
    verb: "pruning of jobs and of the log",
    run: ({ gateway }) => gateway.jobs.prune({ queue_us: 1_000_000_000_000, log_us: 1_000_000_000_000, limit: 5 }),
    indexes: [
      { sqlite: /gateway_trees_ended/, postgres: /gateway_trees_ended/ },
      { sqlite: /gateway_logged_jobs_completed/, postgres: /gateway_logged_jobs_completed/ },
    ],
  },
  {
    verb: "the event stream",
    run: ({ gateway }) => gateway.events.read({ after: 2_900, limit: 10 }),
    indexes: [{ sqlite: /gateway_events USING INTEGER PRIMARY KEY \(rowid>\?\)/, postgres: /gateway_events_pkey/ }],
  },
  {
    verb: "facts",
    run: ({ gateway }) => gateway.pluginState.facts({ plugin: "echo", after: 5, limit: 10 }),
    indexes: [
      { sqlite: /gateway_facts_of_plugins \(plugin=\? AND seq>\?\)/, postgres: /gateway_facts_(of_plugins|pkey)/ },
    ],
  },
  {
    verb: "erasing a user",
    run: ({ gateway }) => gateway.jobs.eraseUser("7"),
    indexes: [
      { sqlite: /gateway_jobs_of_users/, postgres: /gateway_jobs_of_users/ },
      { sqlite: /gateway_logged_jobs_of_users/, postgres: /gateway_logged_jobs_of_users/ },
    ],
  },
];

export function describeQueryPlans(name: string, open: () => Promise<StoresInTest>): void {
  it(`what every step needs is found by an index on ${name}`, async () => {
    const { driver, storesOn } = await open();
    await fill(driver);
    const used: Statement[] = [];
    const stores = await storesOn(recordingDriver(driver, used));
    for (const { verb, run, indexes } of verbs) {
      used.splice(0);
      await run(stores);
      const plan = await planOf(driver, used);
      // The control row of the gateway is the only row of its table, `waiting` are the plugins that have jobs,
      // or a page of jobs as `logged` is.
      expect(plan, verb).not.toMatch(/Seq Scan(?! on gateway_control)|SCAN (?!tree|candidates|waiting|logged)\w+$/m);
      for (const index of indexes) expect(plan, verb).toMatch(index[driver.name]);
    }
  });
}

async function planOf(driver: SqlDriver, statements: readonly Statement[]): Promise<string> {
  const explain = driver.name === "sqlite" ? "explain query plan" : "explain";
  // A lock looks for nothing.
  const planned = statements.filter(({ sql }) => !sql.startsWith("do "));
  const plans = await Promise.all(planned.map(({ sql, params }) => driver.all(`${explain} ${sql}`, params)));
  return plans.flatMap((lines) => lines.map((line) => line.detail ?? line["QUERY PLAN"])).join("\n");
}

const statements = (...texts: readonly string[]) => texts.map((sql) => ({ sql, params: [] }));

// PostgreSQL plans by the size of a table and by what it has counted in a sample: neither may depend on the tests before, nor
// on chance. SQLite plans without having counted, as it does in use.
const freshTables = statements(`truncate ${TABLES.join(", ")} cascade`);
const countEveryRow = statements("set local default_statistics_target = 1000", `analyze ${TABLES.join(", ")}`);

/** Of ten threads one is due, three wait for a time, and one is held; the others have nothing to do. */
async function fill(driver: SqlDriver): Promise<void> {
  const threads = `with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${THREADS})`;
  const each = (table: string, columns: string, values: string, times = 1) => ({
    sql: `insert into ${table} (${columns}) ${threads}, repeated (m) as (select 1 union all select m + 1 from repeated
      where m < ${times}) select ${values} from counted cross join repeated`,
    params: [],
  });
  await driver.batch([
    ...(driver.name === "postgres" ? freshTables : []),
    each(
      "threads",
      `id, thread_key, agent, status, created_at, updated_at, state_version, run, steps, next_seq, next_message,
        tail_from, last_hash, inbox_seq, due_at, wake_rev, lease_by, lease_until, epoch, claims, parent_id,
        child_relationship`,
      `'thread ' || n, 'key ' || n, case when n % 2 = 0 then 'support' else 'sales' end, 'idle', n, n, 1, 1, 1, 10, 10,
        5, 'hash', 3, case when n % 10 = 0 then now_us() - n when n % 10 < 4 then now_us() + cast(n as bigint) * 1000000000
        when n % 10 = 8 then 1 end,
        3, case when n % 10 = 8 then 'worker ' || (n % 7) end, case when n % 10 = 8 then now_us() + 600000000 else 0 end,
        1, 0, case when n > 1500 then 'thread ' || (n - 1500) end, case when n > 1500 then 'helper' end`,
    ),
    // Of another kind, of which one in ten is due.
    each(
      "threads",
      `id, thread_key, kind, agent, status, created_at, updated_at, state_version, run, steps, next_seq, next_message,
        tail_from, last_hash, inbox_seq, due_at, wake_rev, lease_until, epoch, claims`,
      `'workflow ' || n, 'holdfast:' || n, 'workflow', '', 'waiting', n, n, 1, 1, 1, 10, 10, 5, 'hash', 3,
        case when n % 10 = 0 then now_us() - n else now_us() + cast(n as bigint) * 1000000000 end, 3, 0, 1, 0`,
    ),
    each(
      "workflow_runs",
      "run_id, workflow_id, spec_hash, status, payload_hash, created_at, ended_at, has_problem, body",
      `'workflow ' || n, 'workflow ' || (n % 30), 'hash', case n % 4 when 0 then 'failed' when 1 then 'suspended' else 'succeeded' end,
        'hash', n, case when n % 4 <> 1 then n end, case when n % 100 = 0 then 1 else 0 end, 'sealed body'`,
    ),
    each("workflow_run_tags", "run_id, tag", "'workflow ' || n, 'tag ' || (n % 300)"),
    each(
      "workflow_steps",
      "run_id, parent, position, status, undo_order, opened, outcome",
      "'workflow ' || n, '', m - 1, 'succeeded', case when m = 1 then m end, 'sealed', 'sealed'",
      3,
    ),
    // One run that is long.
    {
      sql: `insert into workflow_steps (run_id, parent, position, status, undo_order, opened, outcome)
        with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${THREADS})
        select 'workflow 5', '1/' || (n % 100), n, 'succeeded', case when n % 100 = 0 then n end, 'sealed', 'sealed'
        from counted`,
      params: [],
    },
    each("runs", "thread_id, run, run_key, status, started_at", "'thread ' || n, m, 'key', 'ended', n", 3),
    each("live_text", "thread_id, step, attempt, content, updated_at", "'thread ' || n, 1, 1, '{}', n"),
    each("thread_arguments", "thread_id, sealed", "'thread ' || n, 'sealed arguments'"),
    each(
      "thread_subjects",
      "thread_id, principal, owner_type, owner_key, context, consent, place_id",
      "'thread ' || n, '{}', 'user', cast(n % 300 as text), 'chat', '{}', 'place ' || (n % 300)",
    ),
    each(
      "thread_subjects",
      "thread_id, principal, owner_type, owner_key, context, consent",
      "'workflow ' || n, '{}', 'user', 'run ' || (n % 300), 'workflow', '{}'",
    ),
    each("blobs", "hash, size, content", "'hash ' || n, 0, ''"),
    each(
      "files",
      "thread_id, path, name, mime_type, size, is_directory, hash, created_at",
      "'thread ' || n, '/file ' || m, 'file', 'text/plain', 0, 0, 'hash ' || n, n",
      3,
    ),
    each("thread_values", "thread_id, name, value", "'thread ' || n, 'value ' || m, '1'", 3),
    each(
      "variables",
      "thread_id, name, sealed, type, inherited",
      "'thread ' || n, 'variable ' || m, 'sealed', 'text', 0",
      3,
    ),
    each(
      "effects",
      "thread_id, id, name, args, status, scheduled_at, created_at, attempts, manual_run",
      "'thread ' || n, 'effect ' || m, 'remind', '{}', case when m = 1 then 'pending' else 'completed' end, n, n, 0, 0",
      3,
    ),
    each("answers", "thread_id, sealed", "'thread ' || n, 'sealed answer'"),
    each(
      "inbox",
      "thread_id, seq, id, kind, body, operation, idempotency_key, payload_hash, run, created_at, drained_at",
      `'thread ' || n, m, 'entry ' || m, 'message', null, 'send', 'key ' || m, 'hash', 1, n,
        case when m < 3 or n % 10 <> 0 then 1 end`,
      3,
    ),
    each(
      "messages",
      "thread_id, seq, run, step, kind, supersedes, envelope, salt, hash, at",
      `'thread ' || n, m - 1, 1, 1, case when m = 10 then 'edit' else 'message' end, case when m = 10 then 7 end, '{}',
        'salt', 'hash', n`,
      10,
    ),
    // One thread that is long.
    {
      sql: `insert into messages (thread_id, seq, run, step, kind, envelope, salt, hash, at)
        with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${THREADS})
        select 'thread 5', n + 9, 1, 1, 'message', '{}', 'salt', 'hash', n from counted`,
      params: [],
    },
    {
      sql: `insert into events (thread_id, seq, run, step, records, messages_from, messages_to, tail_from, settled, at, hash)
        with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${THREADS})
        select 'thread 5', n + 9, 1 + n / 10, 1, '[]', 1, 1, 5, 1, n, 'hash' from counted`,
      params: [],
    },
    each(
      "events",
      "thread_id, seq, run, step, records, messages_from, messages_to, tail_from, settled, at, hash",
      "'thread ' || n, m - 1, 1, 1, '[]', m - 1, m, 5, m % 2, n, 'hash'",
      10,
    ),
    each(
      "pending_actions",
      "action_id, stored_at, revision, kind, status, created_at, shown, change_id",
      `'action ' || n, n, 1, 'install', case when n % 10 = 0 then 'pending' else 'accepted' end, 'noon', '{}',
        'change ' || n`,
    ),
    each(
      "calls",
      `thread_id, run, number, tool_call_id, tool_name, phase, idempotency_key, arguments_hmac, epoch, begun_at,
        certain_at, settled_at`,
      `'thread ' || n, 1, m, 'call', 'tool', case when n % 100 = 0 then 'unknown' else 'settled' end, 'key', 'hmac', 1,
        n, n, n`,
      3,
    ),
    each(
      "requests",
      "id, thread_id, run, call, kind, tool_name, status, shown, binding, created_at",
      `'request ' || n || ' ' || m, 'thread ' || n, 1, m, 'approval', 'tool',
        case when n % 10 = 0 then 'pending' else 'settled' end, '{}', 'binding', n`,
      2,
    ),
    each(
      "gateway_jobs",
      `seq, id, plugin, command, status, attempt, max_attempts, submitted_by, root_job_id, user_id, dedupe_hash,
        created_at, due_at, wake_rev, lease_by, claim_id, lease_until, epoch, claims`,
      `n, 'job ' || n, case n % 3 when 0 then 'echo' when 1 then 'fetch' else 'files' end, 'handle',
        case when n % 10 < 2 then 'queued' when n % 10 = 8 then 'running' when n % 10 = 9 then 'failed' else 'succeeded' end,
        1, 4, 'api', 'job ' || n, cast(n % 300 as text), 'hash ' || n, n,
        case when n % 10 in (0, 8) then 0 when n % 10 = 1 then now_us() + cast(n as bigint) * 1000000000 end, 0,
        case when n % 10 = 8 then 'worker ' || (n % 7) end, 'claim ' || n,
        case when n % 10 = 8 then now_us() + 600000000 else 0 end, 5, 0`,
    ),
    each("gateway_payloads", "job_id, sealed", "'job ' || n, 'sealed payload'"),
    each(
      "gateway_trees",
      "root_job_id, jobs, outstanding, ended_at",
      "'job ' || n, 1, case when n % 10 in (0, 1, 8) then 1 else 0 end, case when n % 10 not in (0, 1, 8) then n end",
    ),
    each(
      "gateway_contexts",
      "id, pipeline, step_id, sealed_accumulated, root_job_id, created_at",
      "'context ' || n, 'pipeline', 'step', 'sealed', 'job ' || n, n",
    ),
    each("gateway_dedupe", "hash, job_id, holders, expires_at", "'hash ' || n, 'job ' || n, n % 2, n"),
    each(
      "gateway_attempts",
      "job_id, epoch, attempt, status, outcome, ended_at",
      "'job ' || n, m, m, 'failed', 'failed', n",
      2,
    ),
    each(
      "gateway_logged_jobs",
      `id, seq, plugin, command, status, attempt, max_attempts, submitted_by, root_job_id, user_id, created_at,
        completed_at`,
      `'logged ' || n, n, 'echo', 'handle', 'failed', 1, 4, 'api', 'logged ' || n, cast(n % 300 as text), n, n`,
    ),
    each("gateway_events", "id, type, data, job_id, at", "n, 'job.completed', '{}', 'job ' || n, n"),
    each(
      "gateway_facts",
      "seq, plugin, fact_type, command, job_id, sealed_value, created_at",
      "n, case when n % 100 = 0 then 'echo' else 'fetch' end, 'page', 'poll', 'job ' || n, 'sealed', n",
    ),
    {
      sql: "insert into gateway_control (id, job_seq, stream_id, fact_seq, stamped_at) values (1, 9000, 9000, 9000, 1)",
      params: [],
    },
    ...(driver.name === "postgres" ? countEveryRow : []),
  ]);
}

function recordingDriver(driver: SqlDriver, used: Statement[]): SqlDriver {
  return {
    ...driver,
    all(sql, params = []) {
      used.push({ sql, params });
      return driver.all(sql, params);
    },
    readLong(sql, params = []) {
      used.push({ sql, params });
      return driver.readLong(sql, params);
    },
    batch(statements) {
      used.push(...statements);
      return driver.batch(statements);
    },
  };
}
