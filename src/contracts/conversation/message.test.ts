import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyMap, type Json, snapshot } from "../json.ts";
import * as message from "./message.ts";

const refused = expect.objectContaining({ code: "invalid_ai_message_envelope" });

describe("message", () => {
  it("returns an envelope it made as it is, and the same messages for a transcript of them", () => {
    const greeting = message.text("user", "hello");
    expect(message.normalize(greeting)).toBe(greeting);
    expect(message.normalizeMany([greeting])[0]).toBe(greeting);
  });

  it("copies what a caller passes, so that a later change does not reach the transcript", () => {
    const metadata = { tags: ["a"] };
    const greeting = message.normalize({ role: "user", content: "hello", metadata });
    metadata.tags.push("b");
    expect(greeting.metadata).toEqual({ tags: ["a"] });
    expect(Object.isFrozen(greeting.metadata.tags)).toBe(true);
  });

  it("makes only envelopes that satisfy the schema", () => {
    const made = [
      message.text("user", [{ type: "image" }]),
      message.toolCall({ tool_name: "ability/search", parameters: { query: "q" }, turn: 1 }),
      message.toolResult({ content: "[]", tool_name: "ability/search", payload: { success: true } }),
      message.approvalRequired({ content: "Send it?", payload: { action_id: "a1" } }),
      message.normalize({ content: "x", id: "m1", created_at: "2026-01-01", updated_at: "" }),
    ];
    for (const one of made) expect(message.messageSchema.parse(one)).toEqual(one);
  });

  it("shares one empty map for what is absent, and a payload that needs no copy", () => {
    const payload = snapshot({ success: true, tool_name: "ability/search" }) as { success: true };
    const result = message.toolResult({ content: "[]", tool_name: "ability/search", payload });
    expect(result.payload).toBe(payload);
    expect(result.metadata).toBe(emptyMap);
  });

  it("reads the draft key `data` only when the payload is empty", () => {
    const envelope = { version: 1, type: "delta", data: { old: 1 } };
    expect(message.normalize({ ...envelope, payload: {} }).payload).toEqual({ old: 1 });
    expect(message.normalize({ ...envelope, payload: { now: 1 } }).payload).toEqual({ now: 1 });
  });

  it("reads content the same way in every constructor", () => {
    const parts = [{ type: "image" }];
    const payload = {};
    const made = (content?: typeof parts) => {
      const given = content && { content };
      return [
        message.toolCall({ ...given, tool_name: "t", parameters: {}, turn: 1 }),
        message.toolResult({ ...given, tool_name: "t", payload }),
        message.approvalRequired({ ...given, payload }),
      ];
    };
    expect(made().map(({ content }) => content)).toEqual(["", "", ""]);
    const copied = made(parts);
    parts.pop();
    for (const { content } of copied) {
      expect(content).toEqual([{ type: "image" }]);
      expect(Object.isFrozen(content)).toBe(true);
    }
    expect(() => message.toolResult({ content: 7 as never, tool_name: "t", payload })).toThrow(refused);
  });

  it("takes an empty list for the empty map", () => {
    expect(message.normalize([])).toEqual(message.normalize({}));
    expect(message.normalizeMany([[], {}])).toEqual(message.normalizeMany([{}, []]));
  });

  it("refuses what is not a message with its own code", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const bad of [null, "x", [1], { role: 5 }, { content: 1n }, { metadata: cyclic }, { content: cyclic }]) {
      expect(() => message.normalize(bad)).toThrow(refused);
    }
    expect(() => message.normalize({ version: 1.5, type: "text", payload: {} })).toThrow(refused);
    expect(() => message.text("", "x")).toThrow(refused);
  });

  it("names the entry of a list that is wrong", () => {
    expect(() => message.normalizeMany([{ content: "x" }, 7])).toThrow("messages[1] must be a map");
    expect(() => message.normalizeMany("x")).toThrow("messages must be a list");
  });

  it("keeps a hostile key from reaching any prototype", () => {
    const row = JSON.parse('{"content":"x","metadata":{"__proto__":{"type":"error"},"constructor":1}}');
    const read = message.normalize(row);
    expect(read.type).toBe("text");
    expect(message.toProvider(read).metadata).toEqual({ constructor: 1, type: "text" });
  });

  it("merges a long run of one role into one message with every part once", () => {
    const run = Array.from({ length: 5000 }, (_, index) => ({ role: "user", content: String(index) }));
    const [merged, ...rest] = message.coalesce(run);
    expect(rest).toEqual([]);
    expect(merged?.payload.parts).toHaveLength(5000);
  });
});

describe("a stored message", () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  const map = fc.dictionary(fc.string(), json, { noNullPrototype: true });
  const text = fc.string({ minLength: 1 });
  const envelope = fc
    .record(
      {
        schema: fc.constant(message.SCHEMA),
        version: fc.constant(1),
        type: fc.constantFrom(...message.messageSchema.unwrap().shape.type.options),
        role: text,
        content: fc.oneof(fc.string(), fc.array(json), map),
        payload: map,
        metadata: map,
        ...{ id: text, created_at: text, updated_at: text },
      },
      { requiredKeys: ["schema", "version", "type", "role", "content", "payload", "metadata"] },
    )
    .map((value) => message.normalize(value));

  function expectFrozen(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    expect(Object.isFrozen(value)).toBe(true);
    for (const item of Object.values(value)) expectFrozen(item);
  }

  it("is what was written, of whatever type, and known again", () => {
    fc.assert(
      fc.property(envelope, (written) => {
        const stored = JSON.stringify(written);
        const read = message.fromStored(stored);
        expect(read).toEqual(message.normalize(JSON.parse(stored)));
        expect(read).toEqual(written);
        expect(JSON.stringify(read)).toBe(stored);
        expectFrozen(read);
        expect(message.normalize(read)).toBe(read);
      }),
    );
  });

  it("is read like any other where this module has not written it", () => {
    const whole = { schema: message.SCHEMA, version: 1, type: "text", role: "user", content: "x" };
    const others: readonly unknown[] = [
      { role: "user", content: "x" },
      { ...whole, payload: {}, metadata: [] },
      { ...whole, payload: {}, metadata: {}, version: "1" },
      { ...whole, payload: [], metadata: {}, data: { old: 1 } },
      { ...whole, payload: {}, metadata: {}, role: null },
      { ...whole, payload: {}, metadata: {}, content: null },
      { ...whole, payload: {}, metadata: {}, data: { old: 1 } },
      { ...whole, payload: {}, metadata: {}, id: "", created_at: 5 },
      { ...whole, payload: {}, metadata: {}, added: "by hand" },
      [],
    ];
    for (const other of others) {
      const read = message.fromStored(JSON.stringify(other));
      expect(read).toEqual(message.normalize(other));
      expect(message.messageSchema.parse(read)).toEqual(read);
      expectFrozen(read);
    }
    for (const bad of [null, 5, "x", { ...whole, role: "", payload: {} }, { ...whole, type: "odd", payload: {} }]) {
      expect(() => message.fromStored(JSON.stringify(bad))).toThrow(refused);
    }
  });
});
