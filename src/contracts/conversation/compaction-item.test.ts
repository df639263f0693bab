import { expect, it } from "vitest";
import { sha256, sortedText } from "../canonical-json.ts";
import { HoldfastError } from "../error.ts";
import { fromMessages, normalize, normalizeMany } from "./compaction-item.ts";

const note = { type: "note", content: "hello" };
const refusal = (act: () => unknown) => {
  try {
    return act();
  } catch (thrown) {
    return thrown instanceof HoldfastError ? thrown.message : thrown;
  }
};

it("takes its id from everything it holds, with null for what is absent", () => {
  const parts = { index: null, type: "note", content: "hello", metadata: [], group: null, boundary: null };
  const id = (of: object) => `item-${sha256(sortedText(of)).slice(0, 16)}`;
  expect(normalize(note).id).toBe(id(parts));
  expect(normalize({ ...note, id: null, metadata: null, group: null, boundary: null }).id).toBe(id(parts));
  expect(normalize({ ...note, type: " note\n", group: " g " }, 2).id).toBe(id({ ...parts, group: "g", index: 2 }));
  expect(normalize({ ...note, boundary: {} }).id).toBe(id({ ...parts, boundary: [] }));
});

it("keeps content as it is, and drops what an item does not have", () => {
  expect(normalize({ ...note, content: { b: [1] }, id: "i", role: "user", version: 9 })).toEqual({
    schema: "agents-api.compaction-item",
    version: 1,
    id: "i",
    type: "note",
    content: { b: [1] },
    metadata: {},
  });
  expect(normalize({ ...note, content: "" }).content).toBe("");
});

it("takes a list for metadata or a boundary, and drops what has no name", () => {
  expect(normalize({ ...note, metadata: ["a"], boundary: [1, 2] })).toMatchObject({ metadata: {}, boundary: {} });
});

it.each([
  ["a map", "x", "the item must be a map"],
  ["a type", { content: "" }, "type must be a non-empty string"],
  ["a type that is text", { type: 1, content: "" }, "type must be a non-empty string"],
  ["content", { type: "n", content: null }, "content must be a string, a list or a map"],
  ["a group that is not blank", { ...note, group: " \0" }, "group must be a non-empty string"],
  ["an id that is text", { ...note, id: 7 }, "id must be a non-empty string"],
  ["a boundary that is a map", { ...note, boundary: "x" }, "boundary must be a map"],
  ["JSON", { ...note, metadata: { big: 1n } }, "the item cannot be written as JSON"],
])("needs %s", (_, item, reason) => {
  expect(refusal(() => normalize(item))).toBe(`invalid_ai_compaction_item: ${reason}`);
  const path = reason.startsWith("the item") ? reason.replace("the item", "items[1]") : `items[1].${reason}`;
  expect(refusal(() => normalizeMany([note, item]))).toBe(`invalid_ai_compaction_item: ${path}`);
});

it("needs a list, of which an empty map is the empty one", () => {
  expect(normalizeMany({})).toEqual([]);
  expect(refusal(() => normalizeMany({ a: note }))).toBe("invalid_ai_compaction_item: items must be a list");
});

it("is told apart by its place in a list, and stays what it is when it comes again", () => {
  const [first, second] = normalizeMany([note, note]);
  expect(first?.id).not.toBe(second?.id);
  expect(normalizeMany([second])[0]).toBe(second);
  expect(Object.isFrozen(first)).toBe(true);
});

it("says of a message who said it, whatever its own metadata claims", () => {
  const said = { role: "user", content: [{ type: "text", text: "hi" }], metadata: { message: "mine", k: 1 }, id: " " };
  const [item] = fromMessages([said]);
  expect(item).toMatchObject({
    type: "message:multimodal_part",
    content: said.content,
    metadata: { k: 1, message: { role: "user", payload: {} } },
  });
  expect(item?.id).toMatch(/^item-[0-9a-f]{16}$/);
  expect(fromMessages([{ role: "user", content: "hi", id: " m1 " }])[0]?.id).toBe("m1");
});
