import { expect, it } from "vitest";
import { isText, typeOfName, usualExtension } from "./mime-type.ts";

it("tells the type of a file by its name", () => {
  expect(["a.PNG", "a.md", "a.unknown", "a", "a.constructor"].map(typeOfName)).toEqual([
    "image/png",
    "text/markdown",
    undefined,
    undefined,
    undefined,
  ]);
});

it("tells the usual extension of a type", () => {
  expect(["image/jpeg", "text/plain; charset=utf-8", "x/y"].map(usualExtension)).toEqual(["jpg", "txt", "bin"]);
});

it("tells what can be read line by line", () => {
  const types = ["text/x-anything", "application/json", "image/svg+xml", "TEXT/HTML; charset=utf-8"];
  expect(types.map(isText)).toEqual([true, true, true, true]);
  expect(["image/png", "application/pdf", "application/octet-stream", ""].map(isText)).toEqual(Array(4).fill(false));
});
