// holdfast doctor, metrics, calls and switches …: for those who watch over it.
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { declaredName } from "../../contracts/standard/names.ts";
import type { Client } from "../client.ts";
import { readJson, whole } from "../read-option.ts";
import { Refusal } from "../refusal.ts";
import { table } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";

type Finding = {
  readonly thread_id: string | null;
  readonly run_id?: string;
  readonly cause: string;
  readonly sentence: string;
  readonly command: string | null;
};

const kinds = ["tool", "agent"];

export const operateVerbs: readonly Verb[] = [
  {
    name: "doctor",
    summary: "why something does not go on, in a sentence, and what to type",
    takes: { "[thread]": "the id of a thread or of a run of a workflow; everything unless given" },
    async run({ given, terminal, client }) {
      const runtime = await client();
      if (given.thread !== undefined) {
        return terminal.answer(await diagnose(runtime, String(given.thread)), told);
      }
      const answer = await runtime.call<{ healthy: boolean; findings: readonly Finding[] }>("holdfast/diagnose");
      terminal.answer(answer, ({ healthy, findings }) => {
        if (healthy && findings.length === 0) return "Everything goes on.";
        return findings.flatMap((finding) => [`${nameOf(finding)}:`, ...told(finding).map((line) => `  ${line}`)]);
      });
      if (!answer.healthy) throw new Refusal({ code: "unhealthy", message: "Something does not go on." });
    },
  },
  {
    name: "metrics",
    summary: "how everything stands, in numbers",
    async run({ terminal, client }) {
      const answer = await (await client()).call("holdfast/metrics");
      terminal.answer(answer, (metrics) =>
        table(Object.entries(metrics).flatMap(([name, value]) => metricRows(name, value))),
      );
    },
  },
  {
    name: "calls unknown",
    summary: "calls of which nobody could tell what they did",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ calls: readonly JsonMap[] }>("holdfast/list-unknown-calls");
      terminal.answer(answer, ({ calls }) => {
        if (calls.length === 0) return "There are none.";
        const rows = calls.map((each) =>
          [each.thread_id, each.run, each.number, each.tool_name, each.idempotency_key].map(String),
        );
        return table([["THREAD", "RUN", "CALL", "TOOL", "IDEMPOTENCY KEY"], ...rows]);
      });
    },
  },
  {
    name: "calls settle",
    summary: "say what a call of unknown outcome did",
    takes: {
      "<thread>": "its thread",
      "<run>": "its run",
      "<call>": "its number",
      "<result>": "what came of it, as JSON",
    },
    async run({ given, terminal, client }) {
      const answer = await (await client()).call("holdfast/settle-call", {
        thread_id: given.thread,
        run: whole("<run>", given.run),
        number: whole("<call>", given.call),
        result: readJson(given.result),
      });
      terminal.answer(answer, () => "Settled.");
    },
  },
  {
    name: "switches list",
    summary: "tools and agents that are switched off",
    options: { "--all": "also those that were, and are on again" },
    async run({ given, terminal, client }) {
      const known = await (await client()).call<{ switches: readonly JsonMap[] }>("holdfast/list-switches");
      const answer = { switches: known.switches.filter(({ off }) => off === true || given.all === true) };
      terminal.answer(answer, ({ switches }) => {
        if (switches.length === 0) return "Nothing is switched off.";
        const rows = switches.map((each) =>
          [each.kind, each.name, each.off === true ? "off" : "on", each.reason].map(String),
        );
        return table([["KIND", "NAME", "IS", "WHY"], ...rows]);
      });
    },
  },
  {
    name: "switches off",
    summary: "the kill switch: a tool does not run, an agent's threads wait",
    takes: { "<kind>": "tool or agent", "<name>": "its name" },
    choices: { kind: kinds },
    options: { "--reason <words>": "why", "--force": "though nobody here has it: another process may" },
    run: (work) => turn(work, true),
  },
  {
    name: "switches on",
    summary: "let a tool or an agent go on",
    takes: { "<kind>": "tool or agent", "<name>": "its name" },
    choices: { kind: kinds },
    run: (work) => turn(work, false),
  },
];

/** Of a thread, or of a run where there is no such thread. */
async function diagnose(runtime: Client, id: string): Promise<Finding> {
  try {
    return await runtime.call<Finding>("holdfast/diagnose-thread", { thread_id: id });
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== "thread_not_found") throw thrown;
    return await runtime.call<Finding>("holdfast/diagnose-workflow-run", { run_id: id }).catch((missing: unknown) => {
      throw missing instanceof Refusal && missing.code === "workflow_run_not_found" ? thrown : missing;
    });
  }
}

function nameOf({ thread_id, run_id, cause }: Finding): string {
  if (run_id !== undefined) return `run ${run_id}`;
  return thread_id ?? (cause.startsWith("gateway_") ? "the gateway" : "everything");
}

/** What is counted by something stands below it, a line each. */
function metricRows(name: string, value: Json): readonly (readonly string[])[] {
  if (!isMap(value)) return [[name, String(value)]];
  return Object.entries(value).flatMap(([part, count]) => metricRows(`${name}.${part}`, count));
}

function told({ sentence, command }: Finding): readonly string[] {
  return command === null ? [sentence] : [sentence, command];
}

async function turn({ given, terminal, client }: Work, off: boolean): Promise<void> {
  const { kind, name, reason } = given;
  const runtime = await client();
  // A misspelt name would leave whoever types it in the belief that it is off.
  if (off && given.force !== true) await checkThere(runtime, String(kind), String(name));
  const answer = await runtime.call("holdfast/set-switch", { kind, name, off, reason });
  terminal.answer(answer, () => `${String(name)} is ${off ? "off" : "on"}.`);
}

async function checkThere(runtime: Client, kind: string, name: string): Promise<void> {
  const isIt =
    kind === "tool"
      ? (each: JsonMap) => declaredName(String(each.name)) === declaredName(name)
      : (each: JsonMap) => each.slug === name;
  if ((await thereAre(runtime, kind)).some(isIt)) return;
  throw new Refusal(
    { code: "switch_unknown", message: `Nobody here has the ${kind} ${name}: nothing was switched off.` },
    `holdfast ${kind}s list tells what there is; --force switches off what only another process knows.`,
  );
}

async function thereAre(runtime: Client, kind: string): Promise<readonly JsonMap[]> {
  if (kind === "tool") return (await runtime.call<{ tools: readonly JsonMap[] }>("holdfast/list-tools")).tools;
  return (await runtime.call<{ agents: readonly JsonMap[] }>("holdfast/list-agents")).agents;
}
