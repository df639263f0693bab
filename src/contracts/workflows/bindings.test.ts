import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonMap } from "../json.ts";
import { snapshot } from "../json.ts";
import { expand, references } from "./bindings.ts";

const context = {
  inputs: { n: 3, quoted: "${inputs.n}", list: ["a", "b"], no: false, none: null },
  steps: { "s-1": { output: { rows: [{ id: 7 }] } } },
  vars: { item: "x" },
};

describe("expanding bindings", () => {
  it("puts a value in the place of a text that is one binding, and words in the place of others", () => {
    const value = {
      id: "${steps.s-1.output.rows.0.id}",
      text: "${vars.item}${ inputs.n }, ${inputs.no}.",
      more: ["${inputs.list}"],
    };
    expect(expand(value, context)).toEqual({ id: 7, text: "x3, false.", more: [["a", "b"]] });
    expect(expand("${inputs.n}\n", context)).toBe("3\n");
    expect(expand("[${inputs.list}${inputs.none}${inputs.absent}]", context)).toBe("[]");
  });

  it.each([
    "${inputs}",
    "${ }",
    "${.}",
    "${env.HOME}",
    "${steps.s-1}",
    "${steps.s-1.rows}",
    "${steps.none.output}",
    "${inputs.list.-1}",
    "${inputs.list.01}",
    "${inputs.list.length}",
    "${inputs.quoted.0}",
    "${inputs.n.toFixed}",
    "${inputs.__proto__}",
    "${inputs.constructor.name}",
    "${steps.constructor.output}",
    "${steps.__proto__.output}",
    "${__proto__.n}",
  ])("finds nothing for %s", (value) => {
    expect(expand(value, context)).toBeNull();
    expect(expand(`<${value}>`, context)).toBe("<>");
  });

  it("does not find what only a parser could have put there", () => {
    const inputs = JSON.parse('{"__proto__": {"n": 1}}') as JsonMap;
    expect(expand("${inputs.__proto__.n}", { ...context, inputs })).toBeNull();
  });

  it.each(["${}", "x ${} y", "${inputs.n", "$inputs.n", "$ {inputs.n}", "${}}"])("leaves %s as it is", (value) => {
    expect(expand(value, context)).toBe(value);
  });

  it("looks through no result again, and knows no way to escape", () => {
    expect(expand("${inputs.quoted}", context)).toBe("${inputs.n}");
    expect(expand("<${inputs.quoted}>", context)).toBe("<${inputs.n}>");
    expect(expand("\\${inputs.n} $${inputs.n} ${${inputs.n}}", context)).toBe("\\3 $3 }");
  });

  it("returns everything without a binding as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const value = snapshot(given);
        fc.pre(!JSON.stringify(value).includes("${"));
        expect(expand(value, context)).toBe(value);
      }),
    );
  });

  it("reads a text once, however many bindings in it begin and do not end", () => {
    const begun = "${".repeat(200_000);
    expect(expand(begun, context)).toBe(begun);
    expect(expand(`${begun}}`, context)).toBeNull();
    expect(expand("${}".repeat(200_000), context)).toBe("${}".repeat(200_000));
  });
});

describe("the references of a value", () => {
  it("are the roots and steps that it can find something in", () => {
    const value: Json = {
      a: ["${steps.a.output.x} and ${steps.b.output}", "${inputs.n}"],
      "${vars.key}": "${steps.c} ${vars} ${env.x}",
    };
    expect(references(value)).toEqual({ roots: new Set(["steps", "inputs"]), steps: new Set(["a", "b"]) });
    expect(references("plain")).toEqual({ roots: new Set(), steps: new Set() });
  });
});
