// holdfast agents, tools and abilities …: what there is to talk with, to be called, and to ask for.
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { readMap } from "../read-option.ts";
import { Refusal } from "../refusal.ts";
import { sayOutcome } from "../say-outcome.ts";
import { table } from "../terminal.ts";
import type { Verb } from "../verb.ts";

export const agentVerbs: readonly Verb[] = [
  {
    name: "agents list",
    summary: "the agents there are",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ agents: readonly JsonMap[] }>("holdfast/list-agents");
      terminal.answer(answer, ({ agents }) => {
        if (agents.length === 0) return "There are no agents.";
        const rows = agents.map(({ slug, tools, description }) => [
          String(slug),
          Array.isArray(tools) ? String(tools.length) : "0",
          String(description),
        ]);
        return table([["AGENT", "TOOLS", "ABOUT"], ...rows]);
      });
    },
  },
  {
    name: "tools list",
    summary: "what agents may call",
    options: { "--agent <slug>": "only those of an agent" },
    async run({ given, terminal, client }) {
      const input = { agent: given.agent };
      const answer = await (await client()).call<{ tools: readonly JsonMap[] }>("holdfast/list-tools", input);
      terminal.answer(answer, ({ tools }) => {
        if (tools.length === 0) return "There are no tools.";
        const rows = tools.map((each) => [
          ...[each.name, each.agent].map(String),
          each.is_client === true ? "client" : String(each.action_policy ?? "direct"),
          String(each.description),
        ]);
        return table([["TOOL", "AGENT", "POLICY", "ABOUT"], ...rows]);
      });
    },
  },
  {
    name: "tools call",
    summary: "have a tool run on a thread, through the same gate as a model's call",
    takes: { "<thread>": "the id of a thread", "<tool>": "the name of a tool", "[parameters]": "JSON" },
    async run({ given, terminal, client, signal }) {
      const parameters = readMap("The parameters", given.parameters);
      const input = { thread_id: given.thread, name: given.tool, parameters };
      const outcome = await (await client({ runs: true })).call("holdfast/call-tool", input, { signal });
      const { result } = outcome;
      // Without one it waits: for a decision, or for whoever continues the thread.
      terminal.answer(outcome, (found) => (isMap(result) ? JSON.stringify(result, null, 2) : sayOutcome(found)));
      if (isMap(result) && result.success === false) {
        const why = typeof result.error === "string" ? `: ${result.error}` : ".";
        throw new Refusal({ code: "tool_failed", message: `${String(given.tool)} has failed${why}` });
      }
    },
  },
  {
    name: "abilities list",
    summary: "every operation that can be asked for",
    async run({ terminal, client }) {
      const abilities = await (await client()).abilities();
      terminal.answer({ abilities }, () =>
        table([
          ["ABILITY", "EFFECT", "TAKES", "ABOUT"],
          ...abilities.map((each) => [each.name, each.effect, each.capability, each.title]),
        ]),
      );
    },
  },
  {
    name: "abilities run",
    summary: "call any operation with JSON; prints JSON",
    takes: { "<ability>": "its name", "[input]": "JSON; {} unless given" },
    options: { "--key <key>": "makes a repeat of the same write the same write" },
    examples: [`holdfast abilities run holdfast/get-thread '{"thread_id": "…"}'`],
    async run({ given, terminal, client, signal }) {
      const input = readMap("The input", given.input);
      const { FOLLOW_THREAD } = await import("../../abilities/follow.ts");
      if (given.ability === FOLLOW_THREAD) {
        throw new Refusal({ code: "usage", message: "A stream is followed with: holdfast threads tail <thread>" });
      }
      const key = typeof given.key === "string" ? { key: given.key } : {};
      const answer = await (await client({ runs: true })).call(String(given.ability), input, { ...key, signal });
      terminal.answer(answer, (found) => JSON.stringify(found, null, 2));
    },
  },
];
