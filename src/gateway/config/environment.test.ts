// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what is read here
import { describe, expect, it } from "vitest";
import { toJson } from "../../yaml/located-node.ts";
import { readYamlNode } from "../../yaml/read-yaml.ts";
import { createReport } from "../../yaml/report.ts";
import { interpolate } from "./environment.ts";

const env = { HOME: "/home/me", TOKEN: "s3cret", EMPTY: "", NESTED: "${TOKEN}", _x1: "$$" };

function read(text: string): { value: unknown; problems: string[] } {
  const report = createReport();
  const node = readYamlNode(text, "a.yaml", report);
  const value = node && toJson(interpolate(node, env, report));
  return { value, problems: report.problems().map(({ line, column, message }) => `${line}:${column} ${message}`) };
}

describe("environment variables in texts of the configuration", () => {
  it.each([
    ["a: ${HOME}", "/home/me"],
    ['a: "${HOME}/x/${TOKEN}-${TOKEN}"', "/home/me/x/s3cret-s3cret"],
    ["a: x${EMPTY}y", "xy"],
    ["a: $${HOME}", "${HOME}"],
    ["a: $${HOME} ${HOME}", "${HOME} /home/me"],
    ["a: $$$${HOME}", "$$${HOME}"],
    ["a: ${_x1}{HOME}", "$${HOME}"],
    ["a: ${NESTED}", "${TOKEN}"],
    ["a: $HOME $ {HOME} $", "$HOME $ {HOME} $"],
    ["a: 5", 5],
  ])("%s", (text, value) => {
    expect(read(text)).toEqual({ value: { a: value }, problems: [] });
  });

  it("are put into lists and maps of any depth, and not into keys", () => {
    expect(read('"${HOME}": [{b: ["${HOME}"]}]').value).toEqual({ "${HOME}": [{ b: ["/home/me"] }] });
  });

  it.each([
    ["a: 1\nb: [x, 'y ${MISSING}']", "2:8 The environment variable MISSING is not set."],
    ["a: ${toString}", "1:1 The environment variable toString is not set."],
    [
      "a: ${HOME:-x}",
      "1:1 After ${ stands the name of an environment variable; write $${ for the two characters themselves.",
    ],
    [
      "a: ${payload.amount}",
      "1:1 After ${ stands the name of an environment variable; write $${ for the two characters themselves.",
    ],
    ["a: ${}", "1:1 After ${ stands the name of an environment variable; write $${ for the two characters themselves."],
    ["a: x${HOME", "1:1 A ${ is never closed; write $${ for the two characters themselves."],
  ])("that cannot be put in are named with their place: %j", (text, problem) => {
    expect(read(text).problems).toEqual([problem]);
  });

  it("are each named once, however many aliases lead to a text", () => {
    expect(read("a: &a ['${MISSING}${MISSING}']\nb: [*a, *a]").problems).toHaveLength(1);
  });
});
