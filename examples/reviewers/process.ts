// The process that main.ts starts, and kills: `node process.ts <database> [milliseconds that Ben takes]`. It goes on with
// whatever another one has left in that database, and prints the transcripts in the end.
import { setTimeout as sleep } from "node:timers/promises";
import { createHoldfast, type ThreadHandle } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { createTeam, lastPath, POEM } from "./agents.ts";

const [, , database = "reviewers.db", pauseMs = "0"] = process.argv;

const agents = createTeam(async (line) => {
  console.log(`writing ${line}`);
  if (line.includes("Ben")) await sleep(Number(pauseMs));
});
const holdfast = await createHoldfast({ backend: sqlite(database), agents });
const thread = await holdfast.threads.open("poem", { agent: "editor" }); // same key, same thread
const state = await thread.state();
if (!(await state.statFile(POEM))) await state.writeFile(POEM, "Roses are red.\n");

await thread.send(`Have everybody read ${POEM}`, { key: "read" }); // same key, sent once
const threadOf = ({ reference }: { reference: string }) => holdfast.threads.get(reference);
for (const child of await thread.children()) await (await threadOf(child)).wait();
await thread.wait(); // the last word of Ana's pair was left for the editor, who answers

console.log("---");
await print("The editor", thread);
for (const child of await thread.children()) await print(`${child.threadName}, ${child.status}`, await threadOf(child));
const poem = await state.readFile(lastPath((await thread.messages()).map(({ message }) => message)));
console.log(`The poem\n${new TextDecoder().decode(poem ?? undefined).trimEnd()}`);
await holdfast.close();

/** Without ids, which are drawn anew every time. */
async function print(name: string, of: ThreadHandle): Promise<void> {
  console.log(name);
  for (const { message } of await of.messages()) {
    const { type, role, content, payload } = message;
    const { tool_name, parameters, result } = payload;
    const isText = type === "text";
    const words = isText ? String(content).replaceAll(/\s+/g, " ") : JSON.stringify(parameters ?? result);
    const line = `  ${isText ? role : `${type} ${tool_name}`}: ${words}`;
    console.log(line.replace(/[0-9a-f-]{36}/g, "<id>").replace(/-[0-9a-f]{8}\.txt/g, "-<copy>.txt"));
  }
}
