// holdfast gateway …: the event gateway. Status, jobs, events, plugins, schedules; pause, resume and reload.
import { setTimeout as pause } from "node:timers/promises";
import { jobStatuses } from "../../contracts/gateway/job.ts";
import type { Client } from "../client.ts";
import { gatewayClient, noteWaiting, requireServer } from "../gateway/gateway-client.ts";
import { loadedText } from "../gateway/loaded-text.ts";
import { gatewayOfProject } from "../gateway-of-project.ts";
import { listeningOf, listeningOptions } from "../listening.ts";
import { inWords, readJson, whole } from "../read-option.ts";
import { Refusal } from "../refusal.ts";
import { entries, type Row } from "../row-text.ts";
import { noteMore, table } from "../terminal.ts";
import type { Verb } from "../verb.ts";
import { agentRunVerbs } from "./gateway-runs.ts";
import { confideToken, untilEnded } from "./serve.ts";

/** How often new events are asked for. */
const FOLLOW_MS = 500;

const configFile = { "[file]": "the gateway's configuration; the project's own or gateway.yaml unless given" };

/** Said of a configuration that may be right for a program that is not loaded here. */
const NO_PROGRAM =
  "No project was loaded: plugins that a program passes to createHoldfast() are not known here. Name its project with --config, or call checkGateway(config, { plugins }) in the program.";

const verbs: readonly Verb[] = [
  {
    name: "gateway run",
    summary: "run the gateway of a configuration file and answer over HTTP, until SIGTERM or SIGINT; SIGHUP reloads",
    takes: configFile,
    options: listeningOptions,
    async run(work) {
      const { given, project, terminal, cwd } = work;
      const { startServing } = await import("../running-server.ts");
      const opened = await project();
      const gateway = gatewayOfProject(opened, given.file, cwd);
      const serving = await startServing(
        { ...opened, options: () => ({ ...opened.options(), gateway }) },
        listeningOf(given),
      );
      terminal.answer({ url: serving.url, token_file: serving.tokenFile }, ({ url, token_file }) => [
        `The gateway listens on ${url}`,
        `The owner's token is in ${token_file}`,
      ]);
      confideToken(terminal, serving.newToken);
      await untilEnded(work, serving);
    },
  },
  {
    name: "gateway check",
    summary: "read a configuration, its pipelines and plugins, and list what is wrong with them",
    takes: configFile,
    async run({ given, terminal, cwd, env, project }) {
      const { checkGateway } = await import("../../index.ts");
      const opened = await project();
      const { config, ...setup } = gatewayOfProject(opened, given.file, cwd);
      const { backend } = opened.project;
      const isShared = backend ? backend.name === "postgres" : Boolean(env.DATABASE_URL);
      const checked = await checkGateway(config, { ...setup, env, cwd, isShared });
      const program = opened.config ?? null;
      const isClean = checked.valid && checked.warnings.length === 0;
      if (program === null && !isClean) terminal.note(NO_PROGRAM);
      terminal.answer({ ...checked, program }, (answer) =>
        answer.valid
          ? [
              `${loadedText({ plugins: answer.plugins.length, pipelines: answer.pipelines.length })}: no problems.`,
              ...answer.warnings.map(inOneLine),
            ]
          : answer.problems,
      );
      if (!checked.valid)
        throw new Refusal({ code: "gateway_config_invalid", message: "The configuration is invalid." });
    },
  },
  {
    name: "gateway status",
    summary: "how many jobs are queued and running, and whether the dispatcher is paused",
    async run({ terminal, client }) {
      const status = await (await client()).call("holdfast/gateway-status");
      terminal.answer(status, (each) => {
        const { jobs, ...rest } = each as Row & { jobs: Row };
        return table([...entries(rest), ...entries(jobs).map(([name, value]) => [`jobs ${name}`, value] as const)]);
      });
    },
  },
  {
    name: "gateway pause",
    summary: "start no more jobs, in any process; jobs that run go on",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ paused: boolean }>("holdfast/pause-gateway");
      terminal.answer(answer, ({ paused }) => (paused ? "Paused." : "It was paused already."));
    },
  },
  {
    name: "gateway resume",
    summary: "start jobs again",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ resumed: boolean }>("holdfast/resume-gateway");
      terminal.answer(answer, ({ resumed }) => (resumed ? "Resumed." : "It was not paused."));
    },
  },
  {
    name: "gateway reload",
    summary: "read configuration, pipelines and plugins again; an invalid configuration changes nothing",
    async run(work) {
      await requireServer(
        work,
        "No server runs here, and so no configuration is in force that could be read again.",
        "A server reads its configuration when it starts. To look for mistakes in it: holdfast gateway check.",
      );
      const { terminal, client } = work;
      type Reloaded = { plugins: number; pipelines: number; warnings: readonly Warning[] };
      const answer = await (await client()).call<Reloaded>("holdfast/reload-gateway");
      terminal.answer(answer, ({ warnings, ...loaded }) => [
        `Reloaded: ${loadedText(loaded)}.`,
        ...warnings.map(inOneLine),
      ]);
    },
  },
  {
    name: "gateway plugins",
    summary: "the plugins and aliases that are loaded, with their commands",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ plugins: readonly Row[] }>("holdfast/list-plugins");
      terminal.answer(answer, ({ plugins }) => {
        if (plugins.length === 0) return "There are no plugins.";
        const rows = plugins.map(({ name, base, version, commands, description }) => [
          ...[String(name), String(base), String(version)],
          ...[(commands as readonly Row[]).map((each) => String(each.name)).join(" "), String(description)],
        ]);
        return table([["NAME", "PLUGIN", "VERSION", "COMMANDS", "DESCRIPTION"], ...rows]);
      });
    },
  },
  {
    name: "gateway pipelines",
    summary: "the pipelines, with what starts them and their steps",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ pipelines: readonly Row[] }>("holdfast/list-pipelines");
      terminal.answer(answer, ({ pipelines }) => {
        if (pipelines.length === 0) return "There are no pipelines.";
        const rows = pipelines.map(({ name, on, on_hook, steps }) => [
          ...[String(name), String(on ?? on_hook)],
          (steps as readonly Row[]).map(({ id, uses }) => `${id}:${uses}`).join(" "),
        ]);
        return table([["NAME", "TRIGGER", "STEPS"], ...rows]);
      });
    },
  },
  {
    name: "gateway jobs",
    summary: "list jobs, the newest first; with an id, one job with its tree and logs",
    takes: { "[job]": "the id of a job" },
    options: {
      "--plugin <name>": "only those of a plugin",
      "--status <status>": `only ${inWords(jobStatuses)} ones`,
      "--limit <number>": "how many at most; 50 unless given",
      "--after <place>": "those after this place",
    },
    choices: { status: jobStatuses },
    async run({ given, terminal, client }) {
      const runtime = await client();
      if (given.job !== undefined) {
        const about = { job_id: given.job };
        const [job, tree, logs] = await Promise.all([
          runtime.call<Row>("holdfast/get-job", about),
          runtime.call<{ jobs: readonly Row[] }>("holdfast/get-job-tree", about),
          runtime.call<{ logs: readonly Row[] }>("holdfast/list-job-logs", about),
        ]);
        return terminal.answer({ job, tree: tree.jobs, logs: logs.logs }, () => [
          ...table(entries(job).filter(([, value]) => value !== "null")),
          "",
          ...jobTable(tree.jobs),
        ]);
      }
      const { plugin, status, after } = given;
      const input = { plugin, status, after, limit: whole("--limit", given.limit) };
      const answer = await runtime.call<{ jobs: readonly Row[]; next: string | null }>("holdfast/list-jobs", input);
      terminal.answer(answer, ({ jobs }) => (jobs.length === 0 ? "There are no jobs." : jobTable(jobs)));
      noteMore(terminal, answer.next ?? undefined);
    },
  },
  {
    name: "gateway cancel",
    summary: "cancel a job; of one that runs the process group is killed",
    takes: { "<job>": "the id of a job" },
    async run(work) {
      const { given, terminal, client } = work;
      const answer = await (await client()).call<{ status: string }>("holdfast/cancel-job", { job_id: given.job });
      terminal.answer(answer, ({ status }) => (status === "cancelled" ? "Cancelled." : "Its process is being killed."));
      if (answer.status !== "cancelled") await noteWaiting(work);
    },
  },
  {
    name: "gateway emit",
    summary: "emit an event",
    takes: { "<type>": "the type of the event", "[payload]": "its payload, as a JSON object" },
    options: { "--key <key>": "a dedupe key: a second event with the same key does nothing" },
    async run(work) {
      const { given, terminal, client } = work;
      const { type, key } = given;
      const payload = given.payload === undefined ? {} : readJson(given.payload);
      const answer = await (await client()).call<{ job_ids: readonly string[]; duplicates: number }>(
        "holdfast/emit-event",
        { type, payload, ...(key !== undefined && { dedupe_key: key }) },
      );
      terminal.answer(answer, ({ job_ids, duplicates }) => {
        if (job_ids.length > 0) return [...job_ids];
        return duplicates > 0 ? "It was emitted before." : "No pipeline listens for it.";
      });
      if (answer.job_ids.length > 0) await noteWaiting(work);
    },
  },
  {
    name: "gateway events",
    summary: "what happened in the gateway, the oldest first",
    options: {
      "--after <id>": "events behind this one, or now",
      "--limit <number>": "how many at most; 100 unless given",
      "--follow": "and new ones as they come, until interrupted",
    },
    async run({ given, terminal, client, signal }) {
      const runtime = await client();
      const limit = whole("--limit", given.limit);
      if (given.follow !== true) {
        const answer = await readEvents(runtime, given.after, limit);
        return terminal.answer(answer, ({ events }) =>
          events.length === 0 ? "There are none." : events.map(eventLine),
        );
      }
      for (let after = given.after; !signal.aborted; ) {
        const { events } = await readEvents(runtime, after, limit);
        for (const event of events) terminal.answer(event, eventLine);
        after = events.at(-1)?.id ?? after;
        if (events.length === 0) await pause(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  },
  {
    name: "gateway schedules",
    summary: "schedules with their next run, and circuit breakers that are not closed",
    async run({ terminal, client }) {
      type Schedules = { schedules: readonly Row[]; breakers: readonly Row[] };
      const answer = await (await client()).call<Schedules>("holdfast/list-schedules");
      terminal.answer(answer, ({ schedules, breakers }) => {
        if (schedules.length === 0) return "There are no schedules.";
        const rows = schedules.map((each) =>
          [each.plugin, each.schedule_id, each.command, each.when, each.status, each.next_run_at].map(String),
        );
        const open = breakers.filter(({ state }) => state !== "closed");
        return [
          ...table([["PLUGIN", "SCHEDULE", "COMMAND", "WHEN", "STATUS", "NEXT RUN"], ...rows]),
          ...open.map(
            ({ plugin, command, state, failures }) => `${plugin} ${command}: ${state} after ${failures} failures`,
          ),
        ];
      });
    },
  },
];

export const gatewayVerbs: readonly Verb[] = [...verbs, ...agentRunVerbs].map((verb) => ({
  ...verb,
  run: async (work) => {
    try {
      await verb.run({ ...work, client: () => gatewayClient(work) });
    } catch (thrown) {
      throw thrown instanceof Refusal && thrown.code === "ability_not_found" ? notConfigured() : thrown;
    }
  },
}));

/** A runtime without a gateway has none of these operations. */
function notConfigured(): Refusal {
  return new Refusal({ code: "gateway_not_configured", message: "There is no gateway here." });
}

type Warning = { readonly file: string; readonly line: number; readonly column: number; readonly message: string };

function inOneLine({ file, line, column, message }: Warning): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

type GatewayEvent = { readonly id: string; readonly type: string; readonly at: string; readonly data: object };

async function readEvents(runtime: Client, after: unknown, limit: number | undefined) {
  const input = { ...(after !== undefined && { after }), ...(limit !== undefined && { limit }) };
  return await runtime.call<{ events: readonly GatewayEvent[] }>("holdfast/list-gateway-events", input);
}

function eventLine({ id, at, type, data }: GatewayEvent): string {
  return `${id}  ${at}  ${type}  ${JSON.stringify(data)}`;
}

function jobTable(jobs: readonly Row[]): readonly string[] {
  const rows = jobs.map((job) => [
    ...[job.job_id, job.status, job.plugin, job.command].map(String),
    ...[`${job.attempt}/${job.max_attempts}`, job.pipeline === null ? "" : `${job.pipeline}.${job.step_id}`],
    String(job.reason ?? ""),
  ]);
  return table([["JOB", "STATUS", "PLUGIN", "COMMAND", "ATTEMPT", "STEP", "REASON"], ...rows]);
}
