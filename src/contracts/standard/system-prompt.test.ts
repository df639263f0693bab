import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import { envNames, renderSystemPrompt, type SystemPart } from "./system-prompt.ts";

const text = (content: string): SystemPart => ({ type: "text", content });
const include = (prompt: string): SystemPart => ({ type: "include", prompt });
const env = (property: string): SystemPart => ({ type: "env", property });
const variable = (name: string): SystemPart => ({ type: "variable", name });

const prompts: Readonly<Record<string, readonly SystemPart[]>> = {
  rules: [text("Be brief. "), env("TONE")],
  outer: [text("<"), include("rules"), text(">")],
  ring: [text("ring "), include("link")],
  link: [text("link "), include("ring")],
};
const values: Readonly<Record<string, Json>> = { name: "Ada", count: 2, list: [1, { a: null }], none: null, empty: "" };
const byName = (name: string) => prompts[name];
const sources = {
  include: byName,
  env: (name: string) => (name === "TONE" ? "Kindly." : undefined),
  variable: (name: string) => values[name],
};

describe("renderSystemPrompt", () => {
  it.each<readonly [string, readonly SystemPart[], string]>([
    ["nothing", [], ""],
    ["text as it is", [text("Say {{name}} and $HOME. ")], "Say {{name}} and $HOME. "],
    ["parts without anything in between", [text("a"), text("b")], "ab"],
    [
      "text, another prompt and the environment",
      [text("A "), include("outer"), env("TONE"), env("GONE"), text("!")],
      "A <Be brief. Kindly.>Kindly.!",
    ],
    ["a prompt that is not there", [text("a"), include("gone"), text("b")], 'a[There is no prompt "gone".]b'],
    ["prompts that include each other", [include("ring"), text("end")], "ring link end"],
    ["a prompt twice, which is no circle", [include("rules"), include("rules")], "Be brief. Kindly.Be brief. Kindly."],
    ["variables", [variable("name"), variable("empty"), variable("count"), variable("list")], 'Ada2[1,{"a":null}]'],
    ["a variable that is null", [variable("none")], "null"],
    ["a variable that is not there", [variable("gone")], "{{gone}}"],
  ])("renders %s", (_, parts, expected) => {
    expect(renderSystemPrompt(parts, sources)).toBe(expected);
  });

  it("does not include the prompt itself, whose name nobody told", () => {
    const parts = prompts.ring ?? [];
    expect(renderSystemPrompt(parts, sources)).toBe("ring link ");
  });
});

describe("envNames", () => {
  it("names what the parts and the prompts they include ask for, each once", () => {
    const parts = [env("FIRST"), include("outer"), include("ring"), include("gone"), env("TONE"), variable("name")];
    expect(envNames(parts, byName)).toEqual(["FIRST", "TONE"]);
  });
});
