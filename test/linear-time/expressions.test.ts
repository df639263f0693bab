// No regular expression of the sources takes more than linear time, whatever text it meets.
import { describe, expect, it } from "vitest";
import { allWritten, backtracking, constructedBy, type Expression, writtenIn } from "./expressions.ts";

const { written, constructed } = allWritten();

/** Files that put expressions together from parts of their own, with a use of the function that does it, if one does. */
const fromOwnParts: Readonly<Record<string, string>> = {
  "src/abilities/brief-refusal.ts": "",
  "src/backend/sql/words.ts": "",
  "src/contracts/standard/child-messages.ts": `loaded.withPaths("see /attachments/a.txt", [
    { from: "/attachments/a.txt", attachment: { path: "/attachments/b.txt" } },
    { from: "/attachments/a.a.txt", attachment: { path: "/attachments/c.txt" } },
  ])`,
  "src/models/demo/tokens.ts": "",
};

/** Files that run an expression somebody else wrote, and what bounds the time it takes. */
const fromOutside: Readonly<Record<string, string>> = {
  "src/threads/state/grep-files.ts": "runs where it can be interrupted, with a limit",
  "src/threads/schemas/json-schema-problems.ts": "the `pattern` of a schema that the host registered",
  "src/models/demo/schema.ts": "the `pattern` of the same schemas, for the demo model",
};

const shown = ({ file, source, flags }: Expression) => `${file}: /${source}/${flags}`;

describe("a regular expression", () => {
  it("in the sources never goes over a text more than once", () => {
    expect(written.length).toBeGreaterThan(200);
    expect(written.filter((expression) => backtracking(expression).length > 0).map(shown)).toEqual([]);
  });

  it("that is put together at run time is known, and where its parts come from", () => {
    const known = [...Object.keys(fromOwnParts), ...Object.keys(fromOutside)];
    expect([...new Set(constructed.map(({ file }) => file))].sort()).toEqual(known.sort());
  });

  it.each(Object.entries(fromOwnParts))("that is put together at run time does not either: %s", async (file, use) => {
    const made = await constructedBy(file, use);
    expect(made.length).toBeGreaterThan(0);
    expect(made.filter((expression) => backtracking(expression).length > 0).map(shown)).toEqual([]);
  });

  it.each([
    ["from every position", "/-+$/", "Move"],
    ["between two repetitions", "/^a+a+$/", "Trade"],
    ["in a repetition of a repetition", "/^(?:a+)+$/", "Self, exponential"],
    ["in a repetition of alternatives", "/^(?:a|a)*$/", "exponential"],
    ["from every place where it might begin", "/ab[a-c]+d/", "polynomial"],
  ])("that goes over a text again %s is found", (_how, expression, found) => {
    const code = `export const read = (text: string) => text.replace(${expression}, "");`;
    expect(writtenIn("read.ts", code).written.flatMap(backtracking)).toContain(found);
  });

  it("is found where it is constructed, too", () => {
    const code = `export const read = (name: string) => [new RegExp(name), RegExp(name)];`;
    expect(writtenIn("read.ts", code).constructed).toHaveLength(2);
  });
});
