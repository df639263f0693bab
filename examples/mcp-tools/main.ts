// The tools of an MCP server as tools of an agent: only those that are allowed, and one of them only when a person agrees.
import { agent, createHoldfast, mcpTools } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const library = await mcpTools({
  name: "library",
  command: process.execPath, // or url: "https://…/mcp" with headers
  args: [new URL("./library.ts", import.meta.url).pathname],
  allow: ["findBook", { tool: "lendBook", actionPolicy: "preview" }], // nothing else of it is ever called
  lock: "mcp-lock.json", // how they were declared when they were allowed
});
for (const { name, declaration } of library.tools) console.log(`${name}: ${declaration.description}`);

const model = scriptedModel([
  callsTool("library/find_book", { title: "Momo" }),
  callsTool("library/find_book", { title: 7 }), // refused before it is sent
  callsTool("library/lend_book", { title: "Momo", reader: "Ana" }),
  says("Momo is yours; it is on shelf B7."),
]);
const librarian = agent({ slug: "librarian", model, tools: [...library.tools] });

const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [librarian] });
const thread = await holdfast.threads.open("ana", { agent: "librarian" });
const asked = await thread.send("May I have Momo?");
console.log(`\n${asked.status}: ${asked.waiting_for?.shown.summary}`);

await holdfast.requests.submit(asked.waiting_for?.request_id ?? "", { decision: "accepted" });
const ended = await thread.wait();
for (const { message } of await thread.messages()) {
  if (message.type === "tool_result") console.log(`The model is told: ${message.content}`);
}
console.log(`${ended?.status}: ${ended?.final_content}`);

await holdfast.close();
await library.close(); // ends the server
