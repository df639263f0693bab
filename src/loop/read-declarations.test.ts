import { expect, it } from "vitest";
import { readDeclarations } from "./read-declarations.ts";

const save = { name: "ability/save", source: "abilities", description: "Saves." };
const read = (toolDeclarations: unknown) => readDeclarations({ toolDeclarations } as never);

it("names a declaration it cannot use by its key, or in a list by its own name", () => {
  const bad = { ...save, name: "Not A Name" };
  expect(read({ save: bad, "ability/x": 7 }).rejected.map(({ name }) => name)).toEqual(["save", "ability/x"]);
  expect(read([bad, { description: "d" }, "x"]).rejected.map(({ name }) => name)).toEqual(["Not A Name", "", ""]);
});

it("says of what is no declaration at all that it is none", () => {
  const { rejected } = read({ "ability/x": "save", "ability/y": null, "ability/z": ["save"] });
  expect(new Set(rejected.map(({ reason }) => reason))).toEqual(new Set(["declaration must be an array"]));
  expect(rejected).toHaveLength(3);
});
