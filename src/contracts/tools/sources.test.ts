import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import { normalizeForServer, statesScope } from "./declaration.ts";
import { createToolSources } from "./sources.ts";

const declares =
  (...names: string[]) =>
  () =>
    Object.fromEntries(names.map((name) => [name, {}]));

describe("tool sources", () => {
  it("make one catalogue, in which a failing source has no part", async () => {
    const sources = createToolSources();
    sources.register({ slug: "site", tools: () => ({ "site/read": { description: "Reads a page." } }) });
    sources.register({ slug: "broken", tools: () => Promise.reject(new Error("The source is down.")) });
    sources.register({ slug: "browser", priority: 5, tools: async () => ({ "client/pick": {} }) });
    const toolDeclarations = await sources.gather({ mode: "chat" });

    expect(Object.keys(toolDeclarations)).toEqual(["client/pick", "site/read"]);
    expect(toolDeclarations["site/read"]).toMatchObject({ source: "site", executor: "host" });
    expect(Object.isFrozen(toolDeclarations)).toBe(true);
  });

  it("are asked in the order of registration, in which a source that is registered again moves to the end", async () => {
    const sources = createToolSources();
    for (const slug of ["one", "two", "one"]) {
      sources.register({ slug, tools: () => ({ "a/b": { description: slug }, [`a/${slug}`]: {} }) });
    }
    const tools = await sources.gather();
    expect(Object.keys(tools)).toEqual(["a/b", "a/two", "a/one"]);
    expect(tools["a/b"]?.description).toBe("two");
  });

  it("go on with the next source when the first declares a tool badly", async () => {
    const sources = createToolSources();
    sources.register({ slug: "bad", tools: () => ({ "a/b": { parameters: 5 }, "a/c": "no map" }) });
    sources.register({ slug: "good", tools: declares("a/b", "bare") });
    expect(await sources.gather()).toMatchObject({ "a/b": { source: "good" } });
  });

  it("survive one that answers with what cannot be read", async () => {
    const unreadable = Object.defineProperty({}, "a/b", {
      enumerable: true,
      get() {
        throw new Error("Not today.");
      },
    });
    const sources = createToolSources();
    sources.register({ slug: "odd", tools: () => unreadable });
    sources.register({ slug: "site", tools: declares("site/read") });
    expect(Object.keys(await sources.gather())).toEqual(["site/read"]);
  });

  it("keep a canonical declaration as it is", async () => {
    const read = normalizeForServer({ name: "site/read", source: "site", description: "Reads." });
    const sources = createToolSources();
    sources.register({ slug: "other", tools: () => ({ "site/read": read }) });
    const tools = await sources.gather();
    expect(tools["site/read"]).toBe(read);
    expect(statesScope(read)).toBe(false);
  });

  it("need a slug and a function", () => {
    const sources = createToolSources();
    expect(() => sources.register({ slug: " ", tools: declares() })).toThrow("invalid_tool_source");
    expect(() => sources.register({ slug: "site" } as never)).toThrow("invalid_tool_source");
    expect(() => sources.register(null as never)).toThrow("invalid_tool_source");
  });

  it("can be taken away again", async () => {
    const sources = createToolSources();
    sources.register({ slug: "site", tools: declares("site/read") });
    sources.unregister(" site ");
    sources.unregister("unknown");
    expect(await sources.gather()).toEqual({});
  });
});

describe("hooks on tool sources", () => {
  it("add sources, put them in order and change what they declare", async () => {
    const hooks = createHooks();
    hooks.filter("toolSources", (sources) => [...sources, { slug: "extra", tools: declares("x/one") }, "no source"]);
    hooks.filter("toolSourceOrder", () => ["extra", "unknown", "site", "extra"]);
    hooks.filter("toolSourceTools", (tools, slug) => (slug === "site" ? { ...tools, "site/more": {} } : null));
    const sources = createToolSources({ hooks });
    sources.register({ slug: "site", tools: declares("site/read") });
    sources.register({ slug: "left-out", tools: declares("y/one") });

    expect(Object.keys(await sources.gather())).toEqual(["x/one", "site/read", "site/more"]);
  });

  it("that fail change nothing", async () => {
    const hooks = createHooks();
    for (const seam of ["toolSources", "toolSourceOrder", "toolSourceTools"] as const) {
      hooks.filter(seam, () => {
        throw new Error("The hook is broken.");
      });
    }
    const sources = createToolSources({ hooks });
    sources.register({ slug: "site", tools: declares("site/read") });
    expect(Object.keys(await sources.gather())).toEqual(["site/read"]);
  });
});
