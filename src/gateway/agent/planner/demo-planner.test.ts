import { describe, expect, it } from "vitest";
import { agentWorld } from "../../../../test/agent-world.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { writeCritique } from "./demo-critique.ts";
import { demoPlanner } from "./demo-planner.ts";

const goal = "fetch web http://example.test/tea, and produce a 2 para critique";
const html = `<!doctype html><html><head><title>Tea</title><style>p { color: red. }</style></head>
  <body><h1>Tea</h1><p>We serve <b>forty</b> kinds.</p><script>alert("No.");</script><p>Come in.</p></body></html>`;

async function critiqueFor(result: JsonMap, tools: readonly string[] = ["fetch", "fabric"]) {
  const world = agentWorld({ planner: demoPlanner, tools, config: { allowed_plugins: [...tools] } });
  const first = await world.start({ goal, run_id: "R1" });
  const second = await world.result(1, String(world.run().pending_tool), { result });
  const third = await world.result(2, String(world.run().pending_tool), {
    result: { artifact_path: "artifacts/critique.md" },
  });
  return { world, first, second, third };
}

describe("the demo planner", () => {
  it("fetches the page that the goal names, has two paragraphs written, and is done", async () => {
    const { world, first, second, third } = await critiqueFor({ content: html });
    expect(first).toMatchObject({
      events: [{ type: "agentic.tool_request.fetch", payload: { url: "http://example.test/tea" } }],
    });
    expect(second).toMatchObject({
      events: [{ type: "agentic.tool_request.fabric", payload: { output_path: "artifacts/critique.md" } }],
    });
    expect(third).toMatchObject({
      events: [{ type: "agent.completed", payload: { steps_taken: 2, artifacts: ["artifacts/critique.md"] } }],
    });
    expect(world.run()).toMatchObject({ status: "done" });
  });

  it("takes a reader for fetching and a files tool for writing, whatever their names are", async () => {
    const { first, second } = await critiqueFor({ content: html }, ["files", "jina-reader"]);
    expect(first).toMatchObject({ events: [{ type: "agentic.tool_request.jina-reader" }] });
    expect(second).toMatchObject({ events: [{ type: "agentic.tool_request.files" }] });
  });

  it("refuses a goal without an address for good, and says why", async () => {
    const world = agentWorld({ planner: demoPlanner });
    const response = await world.start({ goal: "Write something." });
    expect(response).toMatchObject({
      status: "error",
      retry: false,
      error: expect.stringContaining("address of a page"),
    });
    expect(world.state).toEqual({});
  });
});

describe("the critique of the demo planner", () => {
  it("has two paragraphs about what a reader of the page sees", () => {
    const critique = writeCritique({ text: html, isPart: false });
    expect(critique.split("\n\n")).toHaveLength(2);
    expect(critique).toContain('The page "Tea" begins with "We serve forty kinds".');
    expect(critique).toContain("It has 6 words in 2 sentences.");
    expect(critique).not.toMatch(/color|alert/);
  });

  it("names the longest sentence, a word that comes often, and figures that are missing", () => {
    const text = `Notes\nTea here, teapot there.\n${"A kettle boils and ".repeat(8)}nothing happens.`;
    const critique = writeCritique({ text, isPart: false });
    expect(critique).toContain('Its longest sentence has 34 words, from "A kettle boils and A" on');
    expect(critique).toContain('the word "kettle" 8 times');
    expect(critique).toContain("gives no figures");
  });

  it("reads a sentence that goes on in the next line as one", () => {
    const said = { text: "A pot of tea\nis served at 5.", isPart: false };
    expect(writeCritique(said)).toContain("It has 8 words in 1 sentence.");
    expect(writeCritique({ ...said, text: `<p>A pot\n of Tea is served at 5.</p>` })).toContain(
      "8 words in 1 sentence",
    );
  });

  it("says so when it has only seen a part of the page", () => {
    expect(writeCritique({ text: "One is here.", isPart: true })).toContain("The part of it that was read has 3 words");
  });

  it.each(["", "<html><script>if (a < b) run();</script></html>", "Just a title"])(
    "says of %j that there is nothing to judge",
    (text) => {
      const critique = writeCritique({ text, isPart: false });
      expect(critique.trim().split("\n\n")).toHaveLength(2);
      expect(critique).toContain("nothing to judge");
    },
  );
});
