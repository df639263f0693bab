import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../agent.ts";
import { tool } from "../tool.ts";
import { prompt } from "./define-prompt.ts";
import { loadAgents } from "./load-folder.ts";

const made: string[] = [];

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "agents-"));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const whole = {
  "agents/desk.mjs": `export default { name: "desk", sideA: { prompt: "main" } };`,
  "prompts/main.ts": `const name: string = "main"; export default { name, prompt: "x", model: "quick", tools: ["send"] };`,
  "models/quick.js": `export default { name: "quick", model: async () => "hi" };`,
  "tools/send.ts": `export default { description: "Send.", execute: () => "sent" };`,
  "hooks/log.ts": `export default { id: "log", hook: "after_create_message", execute: () => null };`,
  "effects/tick.ts": `export default { description: "Tick.", handler: () => null };`,
  "api/report/[id].post.ts": `export default () => new Response("ok");`,
  "api/index.ts": `export default { handler: () => new Response("ok") };`,
  "tools/send.test.ts": `throw new Error("no test is a definition");`,
  "tools/notes.md": "no code",
};

describe("a folder of definitions", () => {
  it("is read file by file, with names and routes from the files where they say them", async () => {
    const { definitions, problems } = await loadAgents(folderWith(whole));
    expect(problems).toEqual([]);
    expect(definitions).toMatchObject({
      agents: [{ slug: "desk" }],
      prompts: [{ name: "main" }],
      models: [{ name: "quick" }],
      tools: [{ name: "standard/send" }],
      hooks: [{ id: "log" }],
      effects: [{ name: "tick" }],
      endpoints: [
        { path: "", method: "GET" },
        { path: "report/[id]", method: "POST" },
      ],
    });
  });

  it("may hold what the define functions have made, and files may import each other", () => {
    const index = new URL("../../index.ts", import.meta.url).href;
    const folder = folderWith({
      "agents/desk.ts": `import { agent } from "${index}"; import main from "../prompts/main.ts";
        export default agent({ name: "desk", sideA: { prompt: main } });`,
      "prompts/main.ts": `import { prompt } from "${index}"; import send from "../tools/send.ts";
        export default prompt({ name: "main", prompt: "x", tools: [send] });`,
      "tools/send.ts": `import { tool } from "${index}";
        export default tool({ name: "send", description: "Send.", execute: () => null });`,
      "tools/other.ts": `import { tool } from "${index}";
        export default tool({ name: "another", description: "x", execute: () => null });`,
      "tools/order.ts": `import { tool } from "${index}";
        export default tool({ name: "shop/order", description: "x", execute: () => null });`,
      "hooks/main.ts": `export { default } from "../prompts/main.ts";`,
    });
    // In a process of its own, where the files and the loader share one copy of the define functions.
    const program = `import { loadAgents } from "${index}"; console.log(JSON.stringify(await loadAgents(process.argv[1])))`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program, folder], {
      encoding: "utf8",
    });
    expect(JSON.parse(printed)).toMatchObject({
      definitions: { agents: [{ slug: "desk" }], tools: [{ name: "shop/order" }, { name: "standard/send" }] },
      problems: [
        { file: "tools/other.ts", message: "Its name is other, as that of the file, and not another." },
        { file: "hooks/main.ts", message: "It exports what prompt() made, which belongs into another folder." },
      ],
    });
  });

  it("is loaded but for the files that are broken, each of which is a problem", async () => {
    const { definitions, problems } = await loadAgents(
      folderWith({
        ...whole,
        "tools/throws.ts": `throw new Error("no key");`,
        "tools/empty.ts": `export const send = 1;`,
        "tools/number.ts": `export default 7;`,
        "tools/syntax.ts": `export default {`,
        "prompts/wrong.ts": `export default { name: "wrong", prompt: "x", includeChat: "yes" };`,
        "prompts/twin.ts": `export default { name: "main", prompt: "y" };`,
        "prompts/send.ts": `export default { name: "send", prompt: "y" };`,
        "effects/other.ts": `export default { name: "another", description: "x", handler: () => null };`,
        "api/[*]/more.ts": `export default () => new Response("ok");`,
        "api/report/[number].post.ts": `export default () => new Response("ok");`,
        "desk.ts": `export default { name: "desk" };`,
      }),
    );
    const told = Object.fromEntries(problems.map(({ file, message }) => [file, message]));
    expect(told).toEqual({
      "desk.ts": expect.stringContaining("It is not loaded"),
      "tools/throws.ts": "no key",
      "tools/empty.ts": "It has no default export.",
      "tools/number.ts": "Its default export is no definition.",
      "tools/syntax.ts": expect.any(String),
      "prompts/wrong.ts": expect.stringContaining("includeChat must be true or false"),
      "prompts/twin.ts": "main is defined in prompts/main.ts already.",
      "prompts/send.ts": "send is defined in tools/send.ts already.",
      "effects/other.ts": "Its name is other, as that of the file, and not another.",
      "api/[*]/more.ts": expect.stringContaining("Its name is no path"),
      "api/report/[number].post.ts": "POST report/[number] is defined in api/report/[id].post.ts already.",
    });
    expect(definitions.agents).toHaveLength(1);
    expect(definitions.tools).toHaveLength(1);
    expect(definitions.endpoints).toHaveLength(2);
  });

  it("is loaded without what refers to a broken file, however far away, and with everything else", async () => {
    const { definitions, problems } = await loadAgents(
      folderWith({
        ...whole,
        "tools/lost.ts": `throw new Error("no key");`,
        "prompts/side.ts": `export default { name: "side", prompt: "x", tools: ["lost"] };`,
        "agents/far.ts": `export default { name: "far", sideA: { prompt: "side" } };`,
      }),
    );
    expect(problems).toEqual([
      { file: "tools/lost.ts", message: "no key" },
      { file: "prompts/side.ts", message: "tools[0] names lost, which is no tool, prompt or agent" },
      { file: "agents/far.ts", message: "sideA.prompt names side, which is no prompt" },
    ]);
    expect(definitions.agents.map(({ slug }) => slug)).toEqual(["desk"]);
  });

  it("may refer to what is defined in code, and not define it again", async () => {
    const main = prompt({ name: "main", prompt: "x" });
    const beside = {
      agents: [agent({ slug: "other" })],
      prompts: [main],
      tools: [tool({ name: "send", description: "x", execute: () => null })],
    };
    const { definitions, problems } = await loadAgents(folderWith(whole), beside);
    expect(problems).toEqual([
      { file: "tools/send.ts", message: "send is defined in the program itself already." },
      { file: "prompts/main.ts", message: "main is defined in the program itself already." },
    ]);
    expect(definitions.agents).toHaveLength(1);
    expect(definitions.prompts).toEqual([]);
  });

  it("has to be there, but may be empty", async () => {
    expect(await loadAgents(folderWith({}))).toMatchObject({
      definitions: { agents: [], endpoints: [] },
      problems: [],
    });
    await expect(loadAgents(join(tmpdir(), "agents-that-are-nowhere"))).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });
});
