// Promise: a model is chosen by its name, and what is named and cannot be had is told with what to do about it. Nothing
// else ever takes its place; only where nothing is named at all does the demo model answer.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { text } from "../src/contracts/conversation/message.ts";
import { HoldfastError } from "../src/contracts/error.ts";
import { createHoldfast } from "../src/holdfast.ts";
import { readyModels } from "../src/models/choose/ready-models.ts";
import type { ModelAnswer } from "../src/models/model.ts";
import type { ModelChoices, ReadyModel } from "../src/models/model-choice.ts";
import { agent } from "../src/threads/agent.ts";
import { type ProviderServer, startProviderServer } from "./provider-server.ts";
import type { Reply } from "./provider-server-reply.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);

async function serverFor(...script: readonly Reply[]): Promise<ProviderServer> {
  const server = await startProviderServer({ script });
  onTestFinished(() => server.close());
  return server;
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function ask(model: ReadyModel | undefined): Promise<ModelAnswer> {
  return (await model?.ask([text("user", "Hello")], {}, { tools: {} })) as ModelAnswer;
}

describe("a name that cannot be followed", () => {
  const key = { OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
  it.each<[choices: ModelChoices, env: Record<string, string>, message: string]>([
    ["gpt-5", key, 'model_name_invalid: "gpt-5" is not <provider>/<model>.'],
    ["openai/", key, 'model_name_invalid: "openai/" is not <provider>/<model>.'],
    ["/gpt-5", key, 'model_name_invalid: "/gpt-5" is not <provider>/<model>.'],
    ["", key, 'model_name_invalid: "" is not <provider>/<model>.'],
    [
      "acme/one",
      key,
      'model_provider_unknown: There is no provider "acme" to ask for "one"; there are openai, anthropic, google, mistral, groq, xai, deepseek, ollama.',
    ],
    ["constructor/one", key, 'model_provider_unknown: There is no provider "constructor"'],
    ["openai/gpt-5", {}, "model_key_missing: openai/gpt-5 needs a key, and OPENAI_API_KEY is not set."],
    ["openai/gpt-5", { OPENAI_API_KEY: " " }, "model_key_missing: openai/gpt-5 needs a key"],
    [
      "openai/gpt-5",
      { OPENAI_BASE_URL: "http://localhost:8000/v1" },
      "model_key_missing: openai/gpt-5 needs a key, and OPENAI_API_KEY is not set.",
    ],
    [
      "google/gemini-flash-latest",
      { OPENAI_API_KEY: "k" },
      "GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY is not set.",
    ],
    ["openai/gpt-5", { ...key, OPENAI_BASE_URL: "localhost" }, "invalid_model: OPENAI_BASE_URL must be an address"],
    [[], key, "invalid_model: model must not be an empty list"],
    [["demo", "gpt-5"], key, 'model_name_invalid: "gpt-5"'],
    [["demo", { model: "demo", stallMs: 0 }], key, "invalid_model: model[1].stallMs must be"],
  ])("is refused: %o", async (choices, env, message) => {
    const refused = await readyModels(choices, env).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(HoldfastError);
    expect((refused as HoldfastError).message).toContain(message);
  });

  it.each([
    ["HOLDFAST_MODEL without its key", { HOLDFAST_MODEL: "anthropic/claude-sonnet-5" }, "model_key_missing"],
    ["HOLDFAST_MODEL without a provider", { HOLDFAST_MODEL: "gpt-5", OPENAI_API_KEY: "k" }, "model_name_invalid"],
    ["a server without a key", { OPENAI_BASE_URL: "http://localhost:8000/v1" }, "model_key_missing"],
    ["two keys", { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "model_not_named"],
  ])("is refused when the environment gives it: %s", async (_what, env: Record<string, string>, code) => {
    await expect(readyModels(undefined, env)).rejects.toMatchObject({ code });
  });

  it("keeps a runtime from starting, and leaves no database behind", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = emptyFolder();
    const agents = [agent({ slug: "support", model: "anthropic/claude-sonnet-5" })];
    const starting = createHoldfast({ backend: sqlite(join(folder, "a.db")), agents });
    await expect(starting).rejects.toMatchObject({ code: "model_key_missing" });
    expect(() => readFileSync(join(folder, "a.db"))).toThrow("ENOENT");
  });
});

describe("a package that is missing", () => {
  // In a process of its own with a folder of its own: what is installed here, or how a test is loaded, changes nothing.
  it("is told from one that is installed and does not work, with what is wrong with it", async () => {
    const folder = emptyFolder();
    for (const part of ["contracts", "loop", "models"]) {
      cpSync(join(root, "src", part), join(folder, "src", part), { recursive: true });
    }
    mkdirSync(join(folder, "node_modules/@ai-sdk"), { recursive: true });
    symlinkSync(join(root, "node_modules/zod"), join(folder, "node_modules/zod"));
    const install = (name: string, code: string) => {
      const home = join(folder, "node_modules/@ai-sdk", name);
      mkdirSync(home);
      writeFileSync(join(home, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
      writeFileSync(join(home, "index.js"), code);
    };
    install("mistral", 'throw new Error("It needs another Node.");');
    install("groq", 'import "@ai-sdk/provider-utils";');
    install("xai", "export const createGrok = () => {};");
    install("deepseek", 'export const createDeepSeek = () => () => ({ specificationVersion: "v2", doStream() {} });');
    install("google", 'export const createGoogleGenerativeAI = () => { throw new Error("No such region."); };');
    writeFileSync(
      join(folder, "main.ts"),
      `import { readyModels } from "./src/models/choose/ready-models.ts";
      const env = { MISTRAL_API_KEY: "k", GROQ_API_KEY: "k", XAI_API_KEY: "k", DEEPSEEK_API_KEY: "k", GEMINI_API_KEY: "k", OPENAI_API_KEY: "k" };
      for (const provider of ["mistral", "groq", "xai", "deepseek", "google", "openai"]) {
        await readyModels(provider + "/m", env).catch(({ message }) => console.log(message.split(" imported from")[0]));
      }`,
    );
    const { stdout } = await run(process.execPath, [join(folder, "main.ts")]);
    expect(stdout.trim().split("\n")).toEqual([
      "model_package_failed: @ai-sdk/mistral fails while it is loaded: It needs another Node.",
      "model_package_failed: @ai-sdk/groq fails while it is loaded: Cannot find package '@ai-sdk/provider-utils'",
      "model_package_failed: @ai-sdk/xai does not export createXai: npm install @ai-sdk/xai@latest",
      "model_package_failed: @ai-sdk/deepseek makes models of the interface v2, not v3 or v4: npm install @ai-sdk/deepseek@latest",
      "model_package_failed: @ai-sdk/google makes no model: No such region.",
      "model_package_missing: @ai-sdk/openai is not installed: npm install @ai-sdk/openai",
    ]);
  });
});

describe("OpenAI without its own package", () => {
  it("is asked through the compatible one, at its own address and with the limit as it is called there", async () => {
    const folder = emptyFolder();
    for (const part of ["contracts", "loop", "models"]) {
      cpSync(join(root, "src", part), join(folder, "src", part), { recursive: true });
    }
    const home = join(folder, "node_modules/@ai-sdk/openai-compatible");
    mkdirSync(home, { recursive: true });
    symlinkSync(join(root, "node_modules/zod"), join(folder, "node_modules/zod"));
    writeFileSync(join(home, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
    writeFileSync(
      join(home, "index.js"),
      `export const createOpenAICompatible = ({ transformRequestBody, ...settings }) => (modelId) => {
        const body = transformRequestBody({ model: modelId, max_tokens: 50 });
        console.log(JSON.stringify({ ...settings, body, without: transformRequestBody({ model: modelId }) }));
        return { specificationVersion: "v4", provider: "openai.chat", modelId, doStream() {} };
      };`,
    );
    writeFileSync(
      join(folder, "main.ts"),
      `import { namedModel } from "./src/models/choose/named-model.ts";
      await namedModel("openai/gpt-5", { OPENAI_API_KEY: "sk-1" });`,
    );
    const { stdout } = await run(process.execPath, [join(folder, "main.ts")]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ name: "openai", apiKey: "sk-1", baseURL: "https://api.openai.com/v1", includeUsage: true },
      body: { model: "gpt-5", max_completion_tokens: 50 },
      without: { model: "gpt-5" },
    });
    expect(JSON.parse(stdout).body).not.toHaveProperty("max_tokens");
  });
});

describe("a model that is named", () => {
  it.each([
    ["openai/team/small:1", { OPENAI_API_KEY: "sk-1" }, "OPENAI_BASE_URL", "", "/v1/chat/completions"],
    ["ollama/llama3", {}, "OLLAMA_BASE_URL", "", "/v1/chat/completions"],
    ["ollama/llama3", {}, "OLLAMA_BASE_URL", "/v1", "/v1/chat/completions"],
    ["anthropic/claude-sonnet-5", { ANTHROPIC_API_KEY: "sk-1" }, "ANTHROPIC_BASE_URL", "/v1", "/v1/messages"],
  ])("is asked by its provider's package: %s", async (name, keys: Record<string, string>, variable, cut, path) => {
    const server = await serverFor({ text: "Hello!", usage: { input: 5, output: 2 } });
    const [model, ...others] = await readyModels(name, { ...keys, [variable]: server.url.replace(cut, "") });
    expect(others).toEqual([]);
    expect(model).toMatchObject({ name, price: null, maxOutputTokens: null });
    expect(await ask(model)).toMatchObject({ content: "Hello!", usage: { prompt_tokens: 5, completion_tokens: 2 } });
    const [request] = server.requests;
    expect(request?.path).toBe(path);
    expect(request?.body.model).toBe(name.slice(name.indexOf("/") + 1));
    expect(JSON.stringify(request?.headers).includes("sk-1")).toBe(Object.keys(keys).length > 0);
  });

  it("comes with what was said of it", async () => {
    const server = await serverFor({ text: "Hello!" });
    const price = { input: 1, output: 4 };
    const entry = { model: "openai/small", price, maxOutputTokens: 50, temperature: 0.5 };
    const [model] = await readyModels(entry, { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.url });
    expect(model).toMatchObject({ name: "openai/small", price, maxOutputTokens: 50 });
    await ask(model);
    expect(server.requests[0]?.body).toMatchObject({ max_tokens: 50, temperature: 0.5 });
  });

  it("stands in a list with those that take over from it", async () => {
    const own = () => "Mine.";
    const models = await readyModels(["ollama/llama3", own, { model: "demo" }], {});
    expect(models.map(({ name }) => name)).toEqual(["ollama/llama3", "a function", "demo"]);
    expect(models[1]?.ask).toBe(own);
  });

  it("is the demo model where nothing is named and no key is set", async () => {
    const [model] = await readyModels(undefined, {});
    expect(model).toMatchObject({ name: "demo", price: { input: 0, output: 0 } });
    expect((await ask(model)).content).toMatch(/^Demo model: /);
  });
});

describe("examples/shop", () => {
  it("runs unchanged on a server that speaks OpenAI's protocol, and refunds once", async () => {
    const input = { order: "7", cents: 1200 };
    const server = await serverFor(
      { calls: [{ id: "call_a", name: "shop__refund", input }] },
      { text: "You have your 12 euros back." },
    );
    const env = { PATH: process.env.PATH, OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-local" };
    const main = join(root, "examples/shop/main.ts");
    const { stdout } = await run(process.execPath, [main], { cwd: emptyFolder(), env });
    expect(stdout.trim().split("\n")).toEqual([
      "Status: approval_required",
      'To decide: Run shop/refund {"cents":1200,"order":"7"}',
      "Status: completed",
      "Answer: You have your 12 euros back.",
      "Refunded: 1200 cents of order 7",
    ]);
    expect(server.requests).toHaveLength(2);
    const [first, second] = server.requests;
    expect(first?.headers.authorization).toBe("Bearer sk-local");
    expect(first?.body).toMatchObject({ model: "gpt-5", stream: true, stream_options: { include_usage: true } });
    expect(first?.body.tools).toMatchObject([{ type: "function", function: { name: "shop__refund" } }]);
    expect(first?.body.messages).toEqual([
      { role: "system", content: "You help customers." },
      { role: "user", content: "Please refund order 7, 12 euros." },
    ]);
    expect(second?.body.messages.slice(2)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: "call_a", function: { name: "shop__refund" } }] },
      { role: "tool", tool_call_id: "call_a", content: JSON.stringify(input) },
    ]);
  });

  it("says what is missing when a key is set without its package, and how to answer offline", async () => {
    const env = { PATH: process.env.PATH, GEMINI_API_KEY: "sk-local" };
    const main = join(root, "examples/shop/main.ts");
    const failed = run(process.execPath, [main], { cwd: emptyFolder(), env });
    await expect(failed).rejects.toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/model_package_missing: @ai-sdk\/google is not installed.*HOLDFAST_MODEL=demo/s),
    });
  });
});
