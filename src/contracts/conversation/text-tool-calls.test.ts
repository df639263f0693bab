import fc from "fast-check";
import { expect, it } from "vitest";
import { extractToolCalls } from "./text-tool-calls.ts";

const fromText = (content: string) => extractToolCalls({ content });
const invoke = (name: string, body = "") => `<invoke name="${name}">${body}</invoke>`;
const parameter = (name: string, value: string) => `<parameter name="${name}">${value}</parameter>`;

it("prefers the calls that are listed, whatever the text says", () => {
  const content = "note x=1";
  expect(extractToolCalls({ content, tool_calls: [] })).toEqual([]);
  expect(extractToolCalls({ content, tool_calls: "none" })).toEqual([]);
  expect(extractToolCalls({ content, tool_calls: null })).toHaveLength(1);
});

it("reads every text once, and numbers the calls of each", () => {
  const calls = extractToolCalls({
    content: "first a=1",
    text: "second a=1",
    output_text: "first a=1",
    message: { content: 'first  "said" a=1' },
  });
  expect(calls.map(({ name, id }) => [name, id])).toEqual([
    ["first", "text-tool-call-1"],
    ["second", "text-tool-call-1"],
  ]);
});

it("reads the value of an XML parameter as plain text", () => {
  const value = "\n <b>1 &lt; 2</b> &amp;amp; &#65;&#x1F600; &#xD800; a < b ";
  const [call] = fromText(`Sure. <function_calls>${invoke("ability/save", parameter("t", value))}</function_calls>`);
  expect(call?.parameters).toEqual({ t: "1 < 2 &amp; A😀 &#xD800; a < b" });
});

it("numbers calls by their place, also behind one that cannot be used", () => {
  expect(fromText(`<function_calls>${invoke("no good")}${invoke("good")}`)).toMatchObject([{ id: "xml-tool-call-2" }]);
  expect(fromText('<tool_call>{"broken}</tool_call><tool_call>{"name":"good"}</tool_call>')).toMatchObject([
    { id: "json-tool-call-2-1" },
  ]);
});

it("takes 16 calls of a kind and 32 parameters of a call", () => {
  const many = Array.from({ length: 40 }, (_, index) => index);
  const parameters = many.map((index) => parameter(`p${index}`, "x")).join("");
  const xml = fromText(`<function_calls>${many.map((index) => invoke(`t${index}`, parameters)).join("")}`);
  expect(xml).toHaveLength(16);
  expect(Object.keys(xml[0]?.parameters ?? {})).toHaveLength(32);

  const listed = JSON.stringify({ tool_calls: many.map((index) => ({ name: `t${index}` })) });
  expect(fromText(`<tool_call>${listed}</tool_call>`)).toHaveLength(16);
  const tagged = many.map((index) => `<tool_call>{"name":"t${index}"}</tool_call>`).join("");
  expect(fromText(tagged)).toHaveLength(16);

  const line = `tool ${many.map((index) => `p${index}=x`).join(" ")}`;
  expect(Object.keys(fromText(line)[0]?.parameters ?? {})).toHaveLength(32);
});

it("counts only parameters that it can use", () => {
  const names = [
    ...Array.from({ length: 5 }, () => "not usable"),
    ...Array.from({ length: 40 }, (_, index) => `p${index}`),
  ];
  const xml = fromText(`<function_calls>${invoke("t", names.map((name) => parameter(name, "x")).join(""))}`);
  const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, "x"])));
  const json = fromText(`<tool_call name="t">${body}</tool_call>`);
  expect(Object.keys(xml[0]?.parameters ?? {})).toEqual(names.slice(5, 37));
  expect(xml[0]?.parameters).toEqual(json[0]?.parameters);
});

it("does not call a tool without the arguments it could not read", () => {
  expect(fromText('<tool_call>{"name":"a","arguments":"{broken"}</tool_call>')).toEqual([]);
  expect(fromText('<tool_call>{"name":"a","arguments":""}</tool_call>')).toMatchObject([{ name: "a", parameters: {} }]);
});

it("pairs code fences, so that text between two blocks is not read as a block", () => {
  const text = '```js\nrun()\n```\n{"name":"between"}\n```json\n{"name":"inside"}\n```';
  expect(fromText(text).map(({ name }) => name)).toEqual(["inside"]);
});

it("takes a fenced block for a call only when it is marked as JSON, or not at all", () => {
  const block = (language: string) => `\`\`\`${language}\n{"name":"t"}\n\`\`\``;
  for (const language of ["", "json", "JSON", "json "]) expect(fromText(block(language))).toHaveLength(1);
  for (const language of ["js", "jsonc", "python", "not json"]) expect(fromText(block(language))).toEqual([]);
});

it("reads a bare line only when it is the whole text", () => {
  expect(fromText("search query=x\nand more")).toEqual([]);
  expect(fromText("search")).toEqual([]);
});

it("reads the line after everything that is marked in it", () => {
  const calls = fromText('search query=x <tool_call name="t">{"a":1}</tool_call>');
  expect(calls).toEqual([
    { name: "t", parameters: { a: 1 }, id: "tag-tool-call-1" },
    { name: "search", parameters: { query: "x", name: "t" }, id: "text-tool-call-1" },
  ]);
});

it("knows names with space around them, and tags in any case", () => {
  expect(fromText('<tool_call>{"name":" t ","arguments":{" a ":1}}</TOOL_CALL>')).toMatchObject([
    { name: "t", parameters: { a: 1 } },
  ]);
  expect(fromText('<Tool_Call NAME=" t ">{"a":1}</tool_call>')).toMatchObject([{ name: "t", parameters: { a: 1 } }]);
  const xml = '<Function_Calls><INVOKE name=" t "><Parameter name=" a ">1</PARAMETER></Invoke></Function_Calls>';
  expect(fromText(xml)).toMatchObject([{ name: "t", parameters: { a: "1" } }]);
});

it("decodes entities in what is marked, but not where that would make the JSON unreadable", () => {
  const encoded = "{&quot;a&quot;:&quot;1 &amp;lt; 2&quot;}";
  expect(fromText(`<tool_call name="t">${encoded}</tool_call>`)).toMatchObject([{ parameters: { a: "1 &lt; 2" } }]);
  expect(fromText(`<tool_call>{&quot;name&quot;:&#34;t&#34;}</tool_call>`)).toMatchObject([{ name: "t" }]);
  const quoted = '{"a":"say &quot;hi&quot;"}';
  expect(fromText(`<tool_call name="t">${quoted}</tool_call>`)).toMatchObject([
    { parameters: { a: "say &quot;hi&quot;" } },
  ]);
});

it("treats calls with the same parameters in another order as the same call", () => {
  const call = (json: string) => `<tool_call name="t">${json}</tool_call>`;
  expect(fromText(call('{"a":1,"b":2}') + call('{"b":2,"a":1}'))).toHaveLength(1);
});

it("drops a parameter that would be a prototype", () => {
  const [call] = fromText("tool __proto__=1 constructor=2");
  expect(Object.keys(call?.parameters ?? {})).toEqual(["constructor"]);
});

it("never throws, whatever a model writes", () => {
  const piece = fc.oneof(
    fc.constantFrom("<function_calls>", "<invoke name=", '"a">', "</invoke>", "<tool_call>", '<tool_call name="t">'),
    fc.constantFrom("</tool_call>", "```", '{"name":', '"x"', "}", "tool_calls", "=", " ", "\n", "&#", ";"),
    fc.string(),
  );
  fc.assert(fc.property(fc.array(piece), (pieces) => Array.isArray(fromText(pieces.join("")))));
});

// Reading that takes more than its share of time would run into the limit of the test.
it("reads two million characters, however they are arranged", () => {
  const length = 2_000_000;
  for (const unit of [
    "<tool_call ",
    "<tool_call>",
    '<tool_call name="a',
    "```",
    '{"a":',
    "b='\" ",
    "<function_calls><invoke ",
    " ",
    "&#1",
  ]) {
    expect(() => fromText(`a ${unit.repeat(length / unit.length)}`)).not.toThrow();
  }
});
