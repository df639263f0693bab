// holdfast memory …: what is remembered beyond threads.
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { whole } from "../read-option.ts";
import { Refusal } from "../refusal.ts";
import { table } from "../terminal.ts";
import type { Verb } from "../verb.ts";

const name = { "<name>": "its name, such as preferences/tone" };

const place = {
  "--layer <layer>": "user, agent or workspace; user unless given",
  "--agent <slug>": "of which agent",
  "--user <number>": "of which user; your own unless given",
};

const choices = { layer: ["user", "principal", "agent", "workspace", "shared", "network"] };

export const memoryVerbs: readonly Verb[] = [
  {
    name: "memory list",
    summary: "what is remembered",
    options: {
      ...place,
      "--folder <folder>": "only below it",
      "--limit <number>": "how many at most; 50 unless given",
    },
    choices,
    async run({ given, terminal, client }) {
      const { folder } = given;
      const input = { ...placeOf(given), folder, limit: whole("--limit", given.limit) };
      const answer = await (await client()).call<{ memories: readonly JsonMap[] }>("holdfast/list-memories", input);
      terminal.answer(answer, ({ memories }) => listed(memories));
    },
  },
  {
    name: "memory search",
    summary: "what is remembered about some words",
    takes: { "<words...>": "the words" },
    options: { ...place, "--limit <number>": "how many at most; 50 unless given" },
    choices,
    async run({ given, terminal, client }) {
      const words = [given.words].flat().join(" ");
      const input = { ...placeOf(given), words, limit: whole("--limit", given.limit) };
      const answer = await (await client()).call<{ memories: readonly JsonMap[] }>("holdfast/list-memories", input);
      terminal.answer(answer, ({ memories }) => listed(memories));
    },
  },
  {
    name: "memory show",
    summary: "one memory, with where it comes from",
    takes: name,
    options: place,
    choices,
    async run({ given, terminal, client }) {
      const found = await (await client()).call("holdfast/get-memory", { ...placeOf(given), name: given.name });
      terminal.answer(found, ({ content, metadata, ...about }) => [
        ...[String(content), ""],
        ...table(
          Object.entries({ ...about, ...(isMap(metadata) && metadata) }).map(([of, value]) => [of, inWords(value)]),
        ),
      ]);
    },
  },
  {
    name: "memory write",
    summary: "remember something",
    takes: { ...name, "<content...>": "what to remember" },
    options: { ...place, "--if-match <hash>": "only while this is what is remembered" },
    choices,
    async run({ given, terminal, client }) {
      const content = [given.content].flat().join(" ");
      const input = { ...placeOf(given), name: given.name, content, if_match: given.ifMatch };
      terminal.answer(
        await (await client()).call("holdfast/put-memory", input),
        ({ hash }) => `Remembered as ${String(hash)}.`,
      );
    },
  },
  {
    name: "memory forget",
    summary: "erase a memory for good, or all about somebody",
    takes: { "[name]": name["<name>"] },
    options: {
      ...place,
      "--all":
        "all about that user or of that agent, in every layer, with private guidelines; of a user alone also jobs and runs of the gateway",
    },
    choices,
    async run({ given, terminal, client }) {
      const call = given.all === true ? wholly(given) : one(given);
      const answer = await (await client()).call(call.ability, call.input);
      terminal.answer(answer, ({ forgotten }) => (forgotten === undefined ? "Forgotten." : `Forgot ${forgotten}.`));
    },
  },
];

function inWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

type Given = Readonly<Record<string, unknown>>;

function one(given: Given): { readonly ability: string; readonly input: object } {
  if (given.name === undefined) {
    throw new Refusal({ code: "usage", message: "Name the memory, or say --all and whose." });
  }
  return { ability: "holdfast/delete-memory", input: { ...placeOf(given), name: given.name } };
}

/** More than was meant cannot be brought back: whose has to be said, and nothing that would narrow it down in vain. */
function wholly({ name: one, layer, agent, user }: Given): { readonly ability: string; readonly input: object } {
  if (one !== undefined || layer !== undefined) {
    throw new Refusal({ code: "usage", message: "--all takes no name and no --layer: it forgets in all of them." });
  }
  if (user === undefined && agent === undefined) {
    throw new Refusal({ code: "usage", message: "Say whose with --user, --agent or both." });
  }
  return { ability: "holdfast/forget-memories", input: { user_id: whole("--user", user), agent } };
}

function placeOf({ layer, agent, user }: Given): object {
  return { layer, agent, user_id: whole("--user", user) };
}

function listed(memories: readonly JsonMap[]): readonly string[] | string {
  if (memories.length === 0) return "Nothing is remembered.";
  const rows = memories.map(({ name: filename, layer, bytes, updated_at }) =>
    [filename, layer, bytes, updated_at].map(String),
  );
  return table([["NAME", "LAYER", "BYTES", "UPDATED"], ...rows]);
}
