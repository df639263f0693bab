import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { effect } from "./effect.ts";

describe("an effect", () => {
  it("is code with a name, whose arguments are checked", async () => {
    const remind = effect({
      name: "remind",
      description: "Remind somebody.",
      args: z.object({ who: z.string() }),
      handler: (_state, args) => {
        expectTypeOf(args.who).toEqualTypeOf<string>();
        return args.who;
      },
    });
    expect(remind).toMatchObject({ name: "remind", description: "Remind somebody." });
    expect(await remind.args?.validate({})).toMatchObject({ ok: false, problems: [{ path: "who" }] });
    expect(effect({ name: "tick", description: "Tick.", handler: () => null })).not.toHaveProperty("args");
  });

  const plain = { name: "remind", description: "Remind.", handler: () => null };
  it.each<[field: string, definition: object]>([
    ["name", { ...plain, name: " " }],
    ["description", { ...plain, description: undefined }],
    ["handler", { ...plain, handler: {} }],
    ["args", { ...plain, args: 5 }],
    ["outlivesStop", { ...plain, outlivesStop: 1 }],
    ["delay", { ...plain, delay: 5 }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => effect(definition as never)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        detail: expect.stringMatching(new RegExp(`^${field}\\b`)),
      }),
    );
  });
});
