// What the model sees, and how what it calls may run: both follow from data, and both are settled before anything runs.
import { createToolSources, runConversation, type TurnRunner } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const sources = createToolSources();
sources.register({
  slug: "site",
  tools: () => ({
    "site/read": { description: "Reads a page.", category: "read" },
    "site/publish": { description: "Publishes a page.", category: "publish" },
    "site/erase": { description: "Erases the site.", category: "publish" },
    "site/log": { description: "Writes a log line.", category: "plumbing", mandatory: true },
  }),
});

const script = scriptedModel([callsTool("site/erase", {}), callsTool("site/publish", { page: "home" }), says("Done.")]);
const model: TurnRunner = (messages, { turn }, { tools }) => {
  console.log(`turn ${turn}, the model sees ${Object.keys(tools).join(", ")}`);
  return script(messages);
};

const result = await runConversation([{ role: "user", content: "Publish the home page." }], model, {
  maxTurns: 4,
  toolDeclarations: await sources.gather({ mode: "chat" }),
  toolExecutor: ({ tool_name }) => `${tool_name} has run`,
  // The agent may read and publish; this run may not erase; publishing is refused during the freeze.
  context: { agent_config: { tool_policy: { mode: "allow", categories: ["read", "publish"] } } },
  toolPolicy: { deny: ["site/erase"] },
  actionPolicyProviders: [({ tool_name }) => (tool_name === "site/publish" ? "forbidden" : null)],
});
for (const { type, content } of result.messages) if (type !== "tool_call") console.log(`${type}: ${content}`);
for (const { tool_name, error_type } of result.tool_audit_events) console.log(`audit: ${tool_name} ${error_type}`);
