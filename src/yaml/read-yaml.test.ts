import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readYaml } from "./read-yaml.ts";

function readValue(text: string): unknown {
  const read = readYaml(text, "a.yaml");
  return "value" in read ? read.value.value : read.problems;
}

function problemsOf(text: string): string[] {
  const read = readYaml(text, "a.yaml");
  return "value" in read ? [] : read.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

const UNKNOWN_TAG = "This tag is not known, or does not fit its value; leave it out.";
const NOT_A_KEY = "A key is a text; put it in quotes.";
const ODD_NUMBER = "NaN and infinity cannot be written as JSON.";
const TOO_DEEP = "Maps and lists are nested at most 100 levels deep.";

describe("YAML text", () => {
  it.each([
    ["", null],
    ["# nothing\n", null],
    ["on: push\nno: yes\n", { on: "push", no: "yes" }],
    ["a: 1\nb: -1.5\nc: true\nd: ~\ne:\n", { a: 1, b: -1.5, c: true, d: null, e: null }],
    ["at: 2026-01-31T00:00:00Z", { at: "2026-01-31T00:00:00Z" }],
    ["a: |\n  one\n  two\nb: >-\n  one\n  two\n", { a: "one\ntwo\n", b: "one two" }],
    ["\ufeffa: 1\r\nb: [2, {c: 3}]\r\n...\n", { a: 1, b: [2, { c: 3 }] }],
    ["x: &x {a: [1], b: 2}\ny: *x\n", { x: { a: [1], b: 2 }, y: { a: [1], b: 2 } }],
    [
      "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: {b: 4, <<: [{b: 5}, *x]}",
      {
        x: { a: 1, b: 2 },
        y: { a: 1, b: 3 },
        z: { a: 1, b: 4 },
      },
    ],
    ['"<<": 1\nconstructor: 2\nnumber: -0\n', { "<<": 1, constructor: 2, number: 0 }],
  ])("is read as YAML 1.2 has it: %j", (text, value) => {
    expect(readValue(text)).toEqual(value);
  });

  it.each([
    [
      "a key that stands twice",
      "a: 1\nb: {c: 1, c: 2}\na: 3",
      ["2:11 The key c stands twice in this map.", "3:1 The key a stands twice in this map."],
    ],
    ["two merges in one map", "a: {<<: {b: 1}, <<: 5}", ["1:17 The key << takes a map, or a list of maps."]],
    ["a second document", "a: 1\n---\nb: 2", ["2:1 A file holds one YAML document; a second one begins here."]],
    ["a tab", "a:\n\tb: 1", ["2:1 Tabs cannot indent YAML; use spaces."]],
    [
      "tags",
      "a: !env X\nb: !!binary aGk=\nc: !!int x",
      [`1:4 ${UNKNOWN_TAG}`, `2:4 ${UNKNOWN_TAG}`, `3:4 ${UNKNOWN_TAG}`],
    ],
    ["a key that is a number", "a:\n  200: ok", [`2:3 ${NOT_A_KEY}`]],
    ["a key that is a boolean", "true: ok", [`1:1 ${NOT_A_KEY}`]],
    ["a key that is empty", "a: {: 1}", [`1:5 ${NOT_A_KEY}`]],
    ["a key that is a list", "? [a]\n: b", [`1:3 ${NOT_A_KEY}`]],
    [
      "numbers that are none",
      "a: .nan\nb: [-.inf, 1e999]",
      [`1:4 ${ODD_NUMBER}`, `2:5 ${ODD_NUMBER}`, `2:12 ${ODD_NUMBER}`],
    ],
    [
      "a number that would change",
      "id: 12345678901234567890",
      ["1:5 This whole number is too large to be exact; put it in quotes."],
    ],
    ["__proto__ as a key", "a:\n  __proto__: {b: 1}", ["2:3 A key cannot be __proto__."]],
    [
      "an alias without an anchor",
      "a: *b",
      ["1:4 There is no anchor for this alias before it; put a text that begins with * in quotes."],
    ],
    ["an alias inside itself", "a: &b [1, *b]", ["1:11 This alias stands inside what it repeats."]],
    ["a control character", "a: x\u0007", ["1:5 The control character U+0007 cannot stand in YAML; leave it out."]],
    ["an escaped NUL", 'a: "\\0"', ["1:4 This text holds a NUL character."]],
    ["half a character", 'a: "\\ud800"', ["1:4 This text holds half of a surrogate pair."]],
    [
      "YAML 1.1, where on is a boolean",
      "%YAML 1.1\n---\non: 1",
      ["1:1 The file is read as YAML 1.2; leave this directive out."],
    ],
    ["a quote without its end", 'a: 1\nb: "two', ["2:8 A double quote is not closed."]],
    ["a bracket without its begin", "a: ]", ["1:4 This ] is not expected here."]],
    [
      "two values on a line",
      "a: b: c",
      ["1:4 A second key or a list cannot stand on the line of a key; begin a new line, or use quotes."],
    ],
    [
      "a character that means something",
      "a: @b",
      ["1:4 A plain value cannot begin with this character; put the value in quotes."],
    ],
    [
      "an odd escape",
      'a: "\\q"',
      ["1:5 This escape sequence does not exist; inside double quotes a backslash is written twice."],
    ],
  ])("names line and column of %s", (_what, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it("does not show the text that could not be read, which may be a secret", () => {
    const texts = [
      "|hunter2",
      "*hunter2",
      "!hunter2 x",
      '"a" hunter2',
      '"\\hunter2"',
      "@hunter2",
      "'hunter2",
      "[hunter2",
    ];
    for (const text of texts) {
      const problems = problemsOf(`password: ${text}\n`);
      expect(problems).not.toEqual([]);
      expect(problems.join("\n")).not.toContain("hunter");
    }
  });

  it("reports 50 problems at most", () => {
    expect(problemsOf(`[${".nan,".repeat(1_000)}]`)).toHaveLength(50);
    expect(problemsOf("]".repeat(100_000))).toHaveLength(50);
  });

  it.each([
    ["100 lists", "[".repeat(100) + "]".repeat(100), []],
    ["101 lists", "[".repeat(101) + "]".repeat(101), [`1:101 ${TOO_DEEP}`]],
    ["a hundred thousand lists", "[".repeat(100_000), [`1:101 ${TOO_DEEP}`]],
    ["a hundred thousand maps", "{a: ".repeat(100_000), [`1:401 ${TOO_DEEP}`]],
    ["50,000 dashes", "- ".repeat(50_000), [`1:201 ${TOO_DEEP}`]],
    ["aliases of aliases", nestedAliases(101), [`100:9 ${TOO_DEEP}`]],
  ])("is nested 100 levels deep at most: %s", (_what, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it.each([
    ["one list often", `a: &a [${"1,".repeat(99)}]\nb: [${"*a,".repeat(101)}]`, "2:305 "],
    ["lists of lists", billionLaughs(), "4:38 "],
    [
      "merged maps",
      `a: &a {${Array.from({ length: 99 }, (_, at) => `k${at}: 1`)}}\nb:\n${"  - <<: *a\n".repeat(101)}`,
      "103:9 ",
    ],
  ])("repeats 10,000 parts through aliases at most: %s", (_what, text, place) => {
    expect(problemsOf(text)[0]).toBe(`${place}Aliases repeat more than 10000 parts in this file.`);
  });

  it("holds a megabyte at most", () => {
    expect(problemsOf(`a: ${"x".repeat(1_048_576 - 3)}`)).toEqual([]);
    const tooLarge = "1:1 The file is larger than 1 MiB, which is the most that is read.";
    expect(problemsOf(`a: ${"x".repeat(1_048_576 - 2)}`)).toEqual([tooLarge]);
    expect(problemsOf(`a: ${"ä".repeat(524_288)}`)).toEqual([tooLarge]);
  });

  it("compares 20,000 keys of one map", () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}:`);
    expect(problemsOf([...keys, "k5:"].join("\n"))).toEqual(["20001:1 The key k5 stands twice in this map."]);
  });

  it("knows where each of its parts stands: an entry at its key, an item where it begins", () => {
    const read = readYaml(
      "pipelines:\n  - name: a\n    steps:\n      - {id: x, uses: echo}\n    if: &if {not: 1}\n    b: *if",
      "p.yaml",
    );
    const place = (...path: (string | number)[]) => {
      const { file, line, column } = "value" in read ? read.value.locate(path) : { file: "", line: 0, column: 0 };
      return `${file}:${line}:${column}`;
    };
    expect(place()).toBe("p.yaml:1:1");
    expect(place("pipelines")).toBe("p.yaml:1:1");
    expect(place("pipelines", 0)).toBe("p.yaml:2:5");
    expect(place("pipelines", 0, "steps", 0, "uses")).toBe("p.yaml:4:17");
    expect(place("pipelines", 0, "b")).toBe("p.yaml:6:5");
    expect(place("pipelines", 0, "b", "not")).toBe("p.yaml:5:14");
    // What is not there is at its nearest parent.
    expect(place("pipelines", 0, "name", "x", 1)).toBe("p.yaml:2:5");
    expect(place("pipelines", 3, "name")).toBe("p.yaml:1:1");
    expect(place("pipelines", 0, "steps", 0, "constructor")).toBe("p.yaml:4:9");
  });

  it("never throws, whatever it is, and its problems have a place in it", () => {
    const pieces = [
      "a",
      "b:",
      ": ",
      "- ",
      "\n",
      "  ",
      "\t",
      "[",
      "]",
      "{",
      "}",
      ",",
      "&a ",
      "*a",
      "!t ",
      "!!int ",
      "'",
      '"',
      "\\",
    ];
    const more = [
      "|\n",
      ">-\n",
      "#",
      "---\n",
      "...\n",
      "%YAML 1.2\n",
      "<<: ",
      "? ",
      "\0",
      "\r",
      "1e999",
      "__proto__: ",
      "é🦀",
      "\ud800",
    ];
    const text = fc.oneof(
      fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 60 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 100 }),
    );
    fc.assert(
      fc.property(text, (yaml) => {
        const read = readYaml(yaml, "a.yaml");
        if ("value" in read) return JSON.stringify(read.value.value) !== undefined;
        expect(read.problems.length).toBeGreaterThan(0);
        const lines = yaml.split("\n").length;
        return read.problems.every(({ line, column }) => line >= 1 && line <= lines + 1 && column >= 1);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** Ten lists, each of ten times the one before. */
function billionLaughs(): string {
  const lists = Array.from({ length: 10 }, (_, at) => `l${at}: &l${at} [${`*l${at - 1},`.repeat(10)}]`);
  return ["l0: &l0 [1,1,1,1,1,1,1,1,1,1]", ...lists.slice(1)].join("\n");
}

/** Each list holds the one before. */
function nestedAliases(count: number): string {
  return Array.from({ length: count }, (_, at) => `- &a${at} [${at === 0 ? "" : `*a${at - 1}`}]`).join("\n");
}
