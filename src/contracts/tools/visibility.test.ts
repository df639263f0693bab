import { describe, expect, it } from "vitest";
import { normalizeForConversationRequest } from "./declaration.ts";
import { isConfigured, resolve } from "./visibility.ts";

const tools = {
  "site/read": { category: "read" },
  "site/publish": { category: "publishing" },
  "site/log": { mandatory: true, category: "audit" },
  "client/pick": { executor: "client", category: "ui" },
};

describe("what the model sees", () => {
  it("follows the policy of the agent, and mandatory tools stay", () => {
    const context = { agent_config: { tool_policy: { mode: "allow", categories: ["read"], deny: ["site/erase"] } } };
    expect(resolve(tools, context)).toEqual(["site/log", "site/read"]);
  });

  it("may be narrowed by everybody with a say and widened by nobody", () => {
    const context = { tool_policy: { mode: "allow", tools: ["site/read", "site/publish"] } };
    const fragments = [{ mode: "allow", tools: ["site/publish", "client/pick"] }, { allow_only: ["site/publish"] }];
    expect(resolve(tools, context, { fragments })).toEqual(["site/log", "site/publish"]);
  });

  it("never holds what is denied, wherever that is said and whoever asked for the tool", () => {
    const asked = { mandatory_tools: ["site/read"], allow_only: ["site/read"] };
    expect(resolve(tools, { deny: "site/read" }, { fragments: [asked] })).toEqual(["site/log"]);
    expect(resolve(tools, {}, { fragments: [{ deny: ["site/log", "site/read"] }, asked] })).toEqual([]);
  });

  it("holds mandatory tools only in their mode and with access", () => {
    const mandatory = {
      "a/one": { mandatory: true, mode: "job" },
      "a/two": { mandatory: true, modes: ["chat", "job"] },
    };
    expect(resolve(mandatory, {})).toEqual(["a/two"]);
    expect(resolve(mandatory, { mode: "job" }, { isAccessible: (name) => name === "a/one" })).toEqual(["a/one"]);
  });

  it("takes the modes of a tool as they are written, also when it lists none", () => {
    const shy = {
      "a/none": { modes: [] },
      "a/blank": { modes: "" },
      "a/wide": { modes: [" chat "] },
      "a/never": { modes: [], mode: "chat" },
      "a/null": { modes: null, mode: "chat" },
      "a/text": { modes: "chat" },
      "a/nameless": { mode: "" },
    };
    expect(resolve(shy, {})).toEqual(["a/null", "a/text"]);
    expect(resolve(shy, { mode: " chat " })).toEqual(["a/wide"]);
    expect(resolve(shy, { mode: "" })).toEqual(Object.keys(shy));
    expect(isConfigured({}, { "a/none": { modes: [] } })).toBe(true);
    expect(isConfigured({}, { "a/null": { modes: null } })).toBe(false);
  });

  it("leaves out a tool whose access checker throws or does not say yes outright", () => {
    const isAccessible = (name: string) => {
      if (name === "site/read") throw new Error("The directory of users is down.");
      return (name === "site/log" ? Promise.resolve(true) : true) as boolean;
    };
    expect(resolve(tools, {}, { isAccessible })).toEqual(["site/publish"]);
  });

  it("matches the categories of registered abilities", () => {
    const named = { "a/post": { ability: "site/post" }, "a/list": { category: "read" } };
    const abilityCategory = () => "publishing";
    expect(resolve(named, { categories: "publishing" }, { abilityCategory })).toEqual(["a/post"]);
  });

  it("holds no definition that is not a map", () => {
    const odd = { a: null, b: "tool", c: [1], d: [], __proto__: null, constructor: {} };
    expect(resolve(odd as never, {})).toEqual(["d", "constructor"]);
  });

  it("sees a catalogue that was changed, unless it is frozen", () => {
    const growing: Record<string, object> = { "a/one": {} };
    expect(resolve(growing, {})).toEqual(["a/one"]);
    growing["a/two"] = {};
    expect(resolve(growing, {})).toEqual(["a/one", "a/two"]);
    const frozen = Object.freeze({ ...growing });
    expect(resolve(frozen, {})).toEqual(resolve(frozen, {}));
  });
});

describe("runtime tools", () => {
  const search = { name: "web/search", source: "web", description: "Search." };

  it("are seen only when somebody asks for them", () => {
    expect(resolve(tools, {})).not.toContain("client/pick");
    for (const context of [{ runtime_tools: ["client/pick"] }, { tool_policy: { runtime_categories: ["ui"] } }]) {
      expect(resolve(tools, context)).toContain("client/pick");
    }
    expect(resolve(tools, { runtime_tools: ["client/pick"], deny: ["client/pick"] })).not.toContain("client/pick");
  });

  it("are those that state their scope, not those whose scope was filled in", () => {
    const stated = normalizeForConversationRequest({ ...search, scope: "run" });
    const filledIn = normalizeForConversationRequest({ ...search, name: "web/open" });
    expect(resolve({ "web/search": stated, "web/open": filledIn }, {})).toEqual(["web/open"]);
  });
});

describe("tools that write", () => {
  const writing = { "a/post": { write: true }, "a/send": { category: "publishing" }, "a/list": {} };

  it("are hidden only on request, and only from runs on nobody's behalf", () => {
    expect(resolve(writing, {})).toHaveLength(3);
    expect(resolve(writing, {}, { hidesWrites: true })).toEqual(["a/list"]);
    expect(resolve(writing, { acting_user_id: 5 }, { hidesWrites: true })).toHaveLength(3);
  });

  it("are seen when asked for by name or all together", () => {
    expect(resolve(writing, { runtime_tools: ["a/post"] }, { hidesWrites: true })).toEqual(["a/post", "a/list"]);
    const fragments = [{ allow_write_tools: true }];
    expect(resolve(writing, { allow_write_tools: 1 }, { hidesWrites: true })).toEqual(["a/list"]);
    expect(resolve(writing, {}, { hidesWrites: true, fragments })).toHaveLength(3);
  });

  it("are those in the categories that the host names", () => {
    expect(resolve(writing, {}, { hidesWrites: true, writeCategories: ["mail"] })).toEqual(["a/send", "a/list"]);
    expect(resolve(writing, {}, { hidesWrites: true, writeCategories: [] })).toHaveLength(3);
  });
});

it("knows a context that says something about visibility", () => {
  for (const context of [
    { tool_policy: {} },
    { agent_config: { tool_policy: {} } },
    { agent: { default_config: { tool_policy: {} } } },
    { deny: [] },
  ]) {
    expect(isConfigured(context, {})).toBe(true);
  }
  expect(isConfigured({ mode: "chat", agent_config: {}, deny: null }, { "a/b": {} })).toBe(false);
  expect(isConfigured({}, { "a/b": { modes: ["chat"] } })).toBe(true);
});
