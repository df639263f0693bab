import { describe, expect, it } from "vitest";
import { hook } from "./hook.ts";

describe("a hook", () => {
  it("is code for a place, known by its id", () => {
    const execute = (_state: unknown, text: string) => text.toUpperCase();
    expect(hook({ id: "shout", hook: "after_system_message", execute })).toEqual({
      id: "shout",
      hook: "after_system_message",
      execute,
    });
  });

  const plain = { id: "log", hook: "after_create_message", execute: () => null };
  it.each<[field: string, definition: object]>([
    ["id", { ...plain, id: "Log-It" }],
    ["id", { ...plain, id: undefined }],
    ["hook", { ...plain, hook: "after_everything" }],
    ["hook", { ...plain, hook: "constructor" }],
    ["execute", { ...plain, execute: "log" }],
    ["order", { ...plain, order: 1 }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => hook(definition as never)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        detail: expect.stringMatching(new RegExp(`^${field}\\b`)),
      }),
    );
  });
});
