import { describe, expect, it } from "vitest";
import {
  canonicalName,
  normalize,
  normalizeForConversationRequest,
  normalizeForServer,
  providerSafeName,
  statesScope,
  type ToolMap,
  validate,
  validateServer,
} from "./declaration.ts";

const client = { name: "client/pick", description: "Pick.", executor: "client", scope: "run" };
const server = { name: "ability/search", source: "abilities", description: "Search." };

describe("validation", () => {
  it("asks a client name for exactly one slash and the client namespace", () => {
    for (const name of ["pick", "client/", "/pick", "client/a/b", "client/Pick", "client/pick\n"]) {
      expect(validate({ ...client, name }), name).toEqual(["name"]);
    }
    expect(validate({ ...client, name: "host/pick" })).toEqual(["source"]);
  });

  it("compares an explicit client source untrimmed and takes null for none", () => {
    for (const source of ["", "  ", " client", 1]) expect(validate({ ...client, source })).toEqual(["source"]);
    expect(validate({ ...client, source: null, parameters: null, runtime: null })).toEqual([]);
    expect(validate({ ...client, parameter_defaults: null })).toEqual(["parameter_defaults"]);
  });

  it("names parameter_bindings whenever that field is there, even if the other one is at fault", () => {
    const client_context_bindings = null;
    expect(validate({ ...client, client_context_bindings })).toEqual(["client_context_bindings"]);
    expect(validate({ ...client, client_context_bindings, parameter_bindings: {} })).toEqual(["parameter_bindings"]);
  });

  it("asks a server tool for a namespace and a source, which may differ", () => {
    const complete = { ...server, executor: "host", scope: "run" };
    expect(validateServer(complete)).toEqual([]);
    expect(validateServer({ ...complete, name: "search" })).toEqual(["name"]);
    expect(validateServer({ ...complete, source: undefined })).toEqual(["source"]);
    expect(validateServer({ ...complete, executor: "php" })).toEqual(["executor"]);
  });

  it("reads anything that is no map as an empty declaration", () => {
    for (const value of [undefined, null, "x", [client]]) {
      expect(validate(value)).toEqual(["name", "description", "executor", "scope"]);
      expect(validateServer(value)).toEqual(["name", "source", "description", "executor", "scope"]);
    }
  });
});

describe("normalising", () => {
  it("keeps the schema as declared, nulls included, and cleans only what it does not know", () => {
    const parameters = { properties: { a: { default: null } } };
    const normalized = normalize({ ...client, parameters, hint: { a: null, token: "kept" } });
    expect(normalized.parameters).toEqual(parameters);
    expect(normalized.hint).toEqual({ token: "kept" });
  });

  it("orders the fields as the contract lists them", () => {
    const declaration = {
      parameter_defaults: { a: 1 },
      write: true,
      runtime: { a: 1 },
      required_capability: "edit",
      ...server,
    };
    expect(Object.keys(normalizeForServer(declaration)).slice(5)).toEqual([
      "scope",
      "provider_safe_name",
      "runtime",
      "write",
      "parameter_defaults",
      "required_capability",
    ]);
  });

  it("lets an extension bring its own provider-safe name, unless it is unusable", () => {
    expect(normalize({ ...client, provider_safe_name: "choose" }).provider_safe_name).toBe("choose");
    expect(normalize({ ...client, provider_safe_name: 5 }).provider_safe_name).toBe("client__pick");
  });

  it("trims the capability of a server tool and carries that of a client tool like any other field", () => {
    expect(normalizeForServer({ ...server, required_capability: ["edit"] })).not.toHaveProperty("required_capability");
    expect(normalize({ ...client, required_capability: ["edit"] }).required_capability).toEqual(["edit"]);
  });

  it("recognises its own results, but only as the kind they are", () => {
    const searched = normalizeForServer(server);
    expect(normalizeForConversationRequest(searched)).toBe(searched);
    expect(() => normalize(searched)).toThrow("invalid_runtime_tool_declaration: source, executor");
    expect(normalizeForServer({ ...searched })).toEqual(searched);
  });

  it("freezes a copy that shares nothing with what it was given", () => {
    const parameters = { required: ["q"] };
    const normalized = normalizeForServer({ ...server, parameters });
    parameters.required.push("r");
    expect(normalized.parameters).toEqual({ required: ["q"] });
    expect(Object.isFrozen(normalized.parameters)).toBe(true);
  });

  it("refuses a cycle with a code and drops a prototype", () => {
    const cycle: Record<string, unknown> = { ...server };
    cycle.self = cycle;
    expect(() => normalizeForServer(cycle)).toThrow("not_json");
    const hostile = JSON.parse('{"name":"a/b","source":"c","description":"d","__proto__":{"x":1}}');
    expect("x" in normalizeForServer(hostile)).toBe(false);
  });
});

describe("a request's catalogue", () => {
  it("completes client entries only", () => {
    expect(normalizeForConversationRequest({ name: "client/x", scope: null }).description).toBe("client/x");
    expect(() => normalizeForConversationRequest({ name: "ability/x", description: "X." })).toThrow(
      "invalid_conversation_tool_declaration: source",
    );
    expect(() => normalizeForConversationRequest({ name: "x", executor: "client" })).toThrow(
      "invalid_runtime_tool_declaration: name",
    );
    expect(() => normalizeForConversationRequest(null)).toThrow(
      "invalid_conversation_tool_declaration: name, source, description",
    );
  });
});

describe("the scope", () => {
  it("counts as stated only when whoever declared the tool wrote it down", () => {
    const scoped = { ...server, scope: "run" };
    expect([scoped, normalizeForServer(scoped), normalizeForConversationRequest(scoped)].map(statesScope)).toEqual([
      true,
      true,
      true,
    ]);
    expect([server, normalizeForServer(server), normalizeForConversationRequest(server)].map(statesScope)).toEqual([
      false,
      false,
      false,
    ]);
    expect(statesScope(normalizeForConversationRequest({ name: "client/pick" }))).toBe(false);
    expect(statesScope(normalize(client))).toBe(true);
  });

  it("stays what it was when a canonical declaration is normalised again", () => {
    const filledIn = normalizeForConversationRequest(normalizeForServer(server));
    expect(filledIn.scope).toBe("run");
    expect(statesScope(normalizeForServer(filledIn))).toBe(false);
  });
});

describe("names", () => {
  it("are made safe for providers in linear time", () => {
    expect(providerSafeName(" /é/ ")).toBe("tool");
    expect(providerSafeName("_9_lives_")).toBe("tool_9_lives");
    expect(providerSafeName(`${"_".repeat(1_000_000)}x${"_".repeat(1_000_000)}y`)).toHaveLength(1_000_002);
  });

  it("lead back to the first tool that claims an alias", () => {
    const tools = {
      "a/one": { provider_aliases: ["shared", 1] },
      "a/two": { provider_aliases: ["shared", "two"], provider_safe_name: "second" },
    } as unknown as ToolMap;
    expect(canonicalName("shared", tools)).toBe("a/one");
    expect(canonicalName("second", tools)).toBe("a/two");
    expect(canonicalName("a__two", tools)).toBe("a__two");
    expect(canonicalName("constructor", tools)).toBe("constructor");
  });
});
