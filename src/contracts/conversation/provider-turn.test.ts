import { expect, it } from "vitest";
import * as message from "./message.ts";
import * as providerTurn from "./provider-turn.ts";

const search = {
  source: "abilities",
  description: "Searches",
  parameters: { properties: { query: {}, site: {} }, required: ["query", "site"] },
  parameter_bindings: { site: { source: "context", path: "site", authoritative: true } },
};

it("hides from the model what the runtime decides", () => {
  const { tool_declarations } = providerTurn.request({ messages: [], tool_declarations: { "ability/search": search } });
  expect(tool_declarations["ability/search"]?.parameters).toEqual({ properties: { query: {} }, required: ["query"] });
});

it("prepares the tools of a frozen map once, and of one that may change every time", () => {
  const frozen = Object.freeze({ "ability/search": search });
  const prepared = (tool_declarations: unknown) =>
    providerTurn.request({ messages: [], tool_declarations }).tool_declarations;
  expect(prepared(frozen)).toBe(prepared(frozen));
  expect(prepared(prepared(frozen))).toBe(prepared(frozen));
  expect(prepared({ ...frozen })).not.toBe(prepared({ ...frozen }));
});

it("takes a list of declarations and names a bad one by its place", () => {
  const named = { ...search, name: "ability/search" };
  expect(Object.keys(providerTurn.request({ tool_declarations: [named] }).tool_declarations)).toEqual([
    "ability/search",
  ]);
  expect(() => providerTurn.request({ tool_declarations: [named, "x"] })).toThrow(
    "invalid_agent_provider_turn_request: tool_declarations.1 ",
  );
  expect(() => providerTurn.request({ tool_declarations: [search] })).toThrow("tool_declarations.0 ");
});

it("keeps messages that are already in canonical form", () => {
  const [hello] = message.normalizeMany([{ role: "user", content: "hello" }]);
  expect(providerTurn.request({ messages: [hello] }).messages[0]).toBe(hello);
});

it("looks for calls in the text only when the answer says nothing about calls", () => {
  const content = 'ability/search query="two words"';
  expect(providerTurn.result({ content }).tool_calls).toMatchObject([{ name: "ability/search" }]);
  expect(providerTurn.result({ content, tool_calls: null }).tool_calls).toHaveLength(1);
  expect(providerTurn.result({ content, tool_calls: [] }).tool_calls).toEqual([]);
});

it.each([
  [{ usage: 1, request_metadata: 1 }, "usage"],
  [{ request_metadata: 1, provider_diagnostics: 1 }, "request_metadata"],
  [{ provider_diagnostics: 1, message: 1 }, "provider_diagnostics"],
  [{ message: 1, tool_calls: 1 }, "message"],
  [{ tool_calls: 1, continuation_messages: 1 }, "tool_calls"],
])("tells of %j the mistake that comes first in the contract: %s", (answer, field) => {
  expect(() => providerTurn.result(answer)).toThrow(`invalid_agent_provider_turn_result: ${field}`);
});

it("keeps the rest of a failure beside its type and message", () => {
  const failure = { type: "quota", message: "over", retry_at: 5 };
  expect(providerTurn.result({ failure }).failure).toEqual(failure);
});

it("keeps lists that a provider reports where most report maps", () => {
  const reported = { usage: [1], request_metadata: ["r"], provider_diagnostics: [{ d: 1 }] };
  const structured_output = { parsed: 1, diagnostics: ["valid"] };
  const answer = providerTurn.result({ ...reported, structured_output });
  expect(answer).toMatchObject({ ...reported, structured_output });
  expect(Object.isFrozen(answer.usage)).toBe(true);
});

it("takes an empty list for the empty map", () => {
  expect(providerTurn.request([] as providerTurn.ProviderTurnInput)).toEqual(providerTurn.request({}));
  const offered = (declaration: unknown) => providerTurn.request({ tool_declarations: { "client/ask": declaration } });
  expect(offered([])).toEqual(offered({}));
  expect(providerTurn.result([])).toEqual(providerTurn.result({}));
  expect(providerTurn.result({ message: [] })).toEqual(providerTurn.result({ message: {} }));
});

it.each([
  ["text", "result "],
  [{ message: 5 }, "message "],
  [{ continuation_messages: "x" }, "continuation_messages "],
  [{ usage: 5 }, "usage "],
  [{ request_metadata: "x" }, "request_metadata "],
  [{ provider_diagnostics: true }, "provider_diagnostics "],
  [{ failure: "x" }, "failure "],
  [{ failure: { type: "x" } }, "failure.message "],
  [{ structured_output: [] }, "structured_output "],
  [{ structured_output: { parsed: 1, diagnostics: "x" } }, "structured_output.diagnostics "],
])("refuses the result %j", (value, detail) => {
  expect(() => providerTurn.result(value)).toThrow(`invalid_agent_provider_turn_result: ${detail}`);
});

it("ignores what an adapter leaves on its answer beside the contract, even if it is not JSON", () => {
  const answer: Record<string, unknown> = { content: "hello" };
  answer.raw = answer;
  expect(providerTurn.result(answer)).toMatchObject({ content: "hello", tool_calls: [] });
});
