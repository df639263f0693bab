// holdfast gateway runs …: agent runs.
import type { JsonMap } from "../../contracts/json.ts";
import { commandHere, shellWord } from "../command-here.ts";
import { noteWaiting } from "../gateway/gateway-client.ts";
import { readJson, whole } from "../read-option.ts";
import { entries, type Row, shortly } from "../row-text.ts";
import { table } from "../terminal.ts";
import type { Verb } from "../verb.ts";

const run = { "<run>": "the id of an agent run" };

export const agentRunVerbs: readonly Verb[] = [
  {
    name: "gateway runs list",
    summary: "agent runs, the newest first",
    options: {
      "--status <status>": "only running, done or escalated ones",
      "--limit <number>": "how many at most; 50 unless given",
    },
    choices: { status: ["running", "done", "escalated"] },
    async run({ given, terminal, client }) {
      const input = { status: given.status, limit: whole("--limit", given.limit) };
      const answer = await (await client()).call<{ runs: readonly Row[] }>("holdfast/list-agent-runs", input);
      terminal.answer(answer, ({ runs }) => {
        if (runs.length === 0) return "There are no agent runs.";
        const rows = runs.map((each) =>
          [each.run_id, each.status, each.step, each.pending_tool ?? "", each.reason ?? "", each.goal].map(String),
        );
        return table([["RUN", "STATUS", "STEP", "WAITS FOR", "REASON", "GOAL"], ...rows]);
      });
    },
  },
  {
    name: "gateway runs start",
    summary: "give an agent a goal",
    takes: { "<goal...>": "what it is to do" },
    options: {
      "--agent <name>": "which agent; agentic-loop unless given",
      "--context <json>": "what it should know, as a JSON object",
      "--run <id>": "an id of your own for the run",
      "--key <key>": "a dedupe key: a second start with the same key does nothing",
    },
    async run(work) {
      const { given, terminal, client, projectOptions, cwd } = work;
      const { agent, run: run_id, key } = given;
      const answer = await (await client()).call<{ status: string; job_id: string | null; run_id: string | null }>(
        "holdfast/start-agent-run",
        {
          goal: (given.goal as readonly string[]).join(" "),
          ...(agent !== undefined && { agent }),
          ...(given.context !== undefined && { context: readJson(given.context) }),
          ...(run_id !== undefined && { run_id }),
          ...(key !== undefined && { dedupe_key: key }),
        },
      );
      terminal.answer(answer, ({ status, run_id }) =>
        status === "duplicate" ? "It was started before." : String(run_id),
      );
      if (answer.run_id !== null) {
        const show = `gateway runs show ${shellWord(answer.run_id)}`;
        terminal.note(`How it goes on: ${commandHere(show, { ...projectOptions, cwd })}`);
      }
      if (answer.status !== "duplicate") await noteWaiting(work);
    },
  },
  {
    name: "gateway runs show",
    summary: "the state of an agent run",
    takes: run,
    async run({ given, terminal, client }) {
      const found = await (await client()).call<Row>("holdfast/get-agent-run", { run_id: given.run });
      terminal.answer(found, () => table(entries(found).filter(([, value]) => value !== "null")));
    },
  },
  {
    name: "gateway runs trace",
    summary: "what an agent wrote into the trace of a run, phase by phase",
    takes: run,
    async run({ given, terminal, client }) {
      const answer = await (await client()).call<{ trace: readonly JsonMap[] }>("holdfast/trace-agent-run", {
        run_id: given.run,
      });
      terminal.answer(answer, ({ trace }) => {
        if (trace.length === 0) return "There is no trace.";
        const rows = trace.map(({ ts, step, phase, kind, summary }) => [ts, step, phase, kind, summary].map(shortly));
        return table([["TIME", "STEP", "PHASE", "KIND", "SUMMARY"], ...rows]);
      });
    },
  },
  {
    name: "gateway runs cancel",
    summary: "kill the tool that runs for an agent run, and end the run",
    takes: run,
    async run(work) {
      const { given, terminal, client } = work;
      const answer = await (await client()).call("holdfast/cancel-agent-run", { run_id: given.run });
      terminal.answer(answer, () => "Cancelled.");
      await noteWaiting(work);
    },
  },
];
