import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../json.ts";
import { expandTemplate, expandWith, templateProblem } from "./template.ts";

const scope = {
  payload: { count: 3, yes: true, none: null, text: "abc", list: [1], map: { a: { b: "deep" } } },
  context: { web: { url: "http://x" } },
};

describe("a template", () => {
  it.each([
    ["{payload.count}", 3],
    ["{ payload.count }", 3],
    ["{payload.list}", [1]],
    ["{payload.none}", null],
    ["{context.web}", { url: "http://x" }],
  ])("%s alone keeps the type of what it finds", (template, value) => {
    expect(expandTemplate(template, scope)).toEqual(value);
  });

  it.each([
    ["n={payload.count}", "n=3"],
    [" {payload.count}", " 3"],
    ["{payload.text}{payload.count}", "abc3"],
    ["{payload.yes}/{payload.none}/{payload.map.a.b}", "true//deep"],
    ["see {context.web}", 'see {"url":"http://x"}'],
    ["plain", "plain"],
    ["", ""],
  ])("%s is text", (template, value) => {
    expect(expandTemplate(template, scope)).toBe(value);
  });

  it.each([
    "{payload.a",
    "a } b",
    "{}",
    "{ }",
    "{{payload.a}}",
    "{payload.a}}",
    "{other.x}",
    "{payload}",
    "{config.a}",
  ])("%s is written wrong, which shows before anything is expanded", (template) => {
    expect(templateProblem(template)).toContain("template");
    expect(() => expandTemplate(template, scope)).toThrow("invalid_template");
  });

  it("scenario 41: with a path that is not there is an error, and never null or empty text", () => {
    expect(templateProblem("{payload.missing}")).toBeUndefined();
    for (const path of [
      "payload.missing",
      "payload.text.length",
      "payload.list.0",
      "payload.constructor",
      "context.a",
    ]) {
      expect(() => expandTemplate(`x {${path}}`, scope)).toThrow(/template.*is not there/);
    }
    expect(() => expandTemplate("{context.a}", {})).toThrow("invalid_template");
  });

  it("is expanded once: braces in what it finds stay text", () => {
    expect(expandTemplate("{payload.t}!", { payload: { t: "{payload.t}" } })).toBe("{payload.t}!");
  });
});

describe("a with map", () => {
  it("has all values expanded from one snapshot, inside lists and maps too", () => {
    const templates = {
      count: "{payload.text}",
      was: "{payload.count}",
      all: ["{payload.count}", 7],
      m: { x: "{context.web.url}" },
    };
    expect(expandWith(templates, scope)).toEqual({ count: "abc", was: 3, all: [3, 7], m: { x: "http://x" } });
  });

  it("keeps a key __proto__ as a key like any other", () => {
    const expanded = expandWith(JSON.parse('{"__proto__":{"x":"y"}}') as JsonMap, scope);
    expect(Object.keys(expanded)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(expanded)).toBe(Object.prototype);
  });
});
