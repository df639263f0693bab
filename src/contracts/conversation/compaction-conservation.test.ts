import { expect, it } from "vitest";
import { metadata } from "./compaction-conservation.ts";

it("counts text in UTF-8 bytes and everything else as canonical JSON", () => {
  const original_items = [{ content: "é" }, { content: [1, 2] }, { content: null }, "plain", { id: 1 }, 12];
  expect(metadata({ original_items }).provenance).toMatchObject({
    original: { item_count: 6, byte_count: 2 + 5 + 4 + 5 + 8 + 2 },
  });
});

it("rounds what is required up to whole bytes", () => {
  const policy = { conservation_enabled: true, minimum_conserved_byte_ratio: 0.5 };
  const verdict = metadata({ policy, original_items: ["abc"], retained_items: ["a"] }).conservation;
  expect(verdict).toMatchObject({
    required_byte_count: 2,
    conserved_byte_count: 1,
    passed: false,
    failed_closed: true,
  });
});

it("calls nothing conserved out of nothing complete", () => {
  expect(metadata({ policy: { conservation_enabled: true } }).conservation).toMatchObject({
    conserved_byte_ratio: 1,
    passed: true,
  });
});

it("does not let extra fields pass for its own verdict", () => {
  const account = metadata({ extra: { conservation: { passed: true }, run: 1 }, original_items: ["a"] });
  expect(account).toMatchObject({ run: 1, conservation: { conserved_byte_count: 0 } });
});
