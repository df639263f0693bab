import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../contracts/json.ts";
import { redact } from "../../contracts/tools/exposure.ts";
import { createInputRedactor } from "./redact-input.ts";

/** What is shown of arguments that come in these pieces. */
function shown(pieces: Iterable<string>, definition: JsonMap | null = null): string {
  const redactor = createInputRedactor(definition);
  return [...pieces].map(redactor).join("");
}

const definition = {
  sensitive_parameters: ["card", "customer.pin", "codes.*", "lines.*.note", "sealed.*"],
  parameters: { properties: { phrase: { type: "string", format: "password" } } },
};
const names = [
  "card",
  "customer",
  "pin",
  "codes",
  "lines",
  "note",
  "sealed",
  "phrase",
  "a",
  'x"\\',
  "é",
  "access_token",
];

describe("arguments that a model is writing", () => {
  it("are shown as they stand when nothing of them is hidden", () => {
    const json = ' {"order" : 7, "lines":[1.5e3 ,{"a":null},[ ],"\\"}🦀"], "empty":{} }\n';
    expect(shown(json)).toBe(json);
    expect(shown([json])).toBe(json);
  });

  it("show nothing of what transcripts hide, whatever it is and wherever they are cut", () => {
    const json = '{"pin":1,"api_key":"k-1","t\\u006fken":{"a":["s"]},"list":[{"password":[1,2]}],"last":true}';
    const safe =
      '{"pin":1,"api_key":"[redacted]","t\\u006fken":"[redacted]","list":[{"password":"[redacted]"}],"last":true}';
    for (let cut = 0; cut <= json.length; cut++) expect(shown([json.slice(0, cut), json.slice(cut)])).toBe(safe);
    expect(shown(json)).toBe(safe);
  });

  it("are hidden before the value that is hidden has begun", () => {
    const redactor = createInputRedactor(null);
    expect(redactor('{"password":')).toBe('{"password":');
    expect(redactor(' "ro')).toBe(' "[redacted]"');
    expect(redactor("sebud")).toBe("");
    expect(redactor('", "n":12')).toBe(', "n":12');
    expect(redactor("3}")).toBe("3}");
  });

  it("come to what the transcript shows of them", () => {
    const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.string({ unit: "binary" }), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value;
    const map = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5, noNullPrototype: true });
    fc.assert(
      fc.property(map, fc.constantFrom(0, 2), fc.array(fc.nat(12)), (given, indent, lengths) => {
        const json = JSON.stringify(given, null, indent);
        const text = shown(piecesOf(json, lengths), definition);
        expect(JSON.parse(text)).toEqual(redact(JSON.parse(json), definition));
      }),
    );
  });

  it.each([
    ['"rosebud"', ""],
    ["[1]", ""],
    ["rosebud", ""],
    ['{"a":1}, rosebud', '{"a":1}'],
    ['{"a" rosebud', '{"a" '],
    ['{"a":1,,"b":rosebud', '{"a":1,'],
    ['{"a":[1,]rosebud', '{"a":[1,'],
    ['{"a":]rosebud', '{"a":'],
    ['{"a\nrosebud":1}', '{"a\nrosebud"'],
    ['{"a":1 rosebud', '{"a":1 '],
  ])("are shown no further than they are a map: %s", (json, text) => {
    expect(shown([json, "more"])).toBe(text);
  });

  it("are shown no deeper than anybody reads", () => {
    const json = `{"a":${"[".repeat(5_000)}`;
    expect(shown(json).length).toBeLessThan(200);
  });
});

/** Cut where the lengths say; what is left comes letter by letter. */
function piecesOf(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const length of lengths) {
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return [...pieces, ...text.slice(from)];
}
