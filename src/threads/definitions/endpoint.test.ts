import { describe, expect, it } from "vitest";
import { endpoint } from "./endpoint.ts";

describe("an endpoint", () => {
  it("is a handler for a path, asked with GET unless it says otherwise", () => {
    const handler = () => new Response("ok");
    expect(endpoint({ path: "/report/[id]", handler })).toEqual({ path: "report/[id]", method: "GET", handler });
    expect(endpoint({ path: "", method: "post", handler }).method).toBe("POST");
  });

  const plain = { path: "report", handler: () => new Response("ok") };
  it.each<[field: string, definition: object]>([
    ["path", { ...plain, path: undefined }],
    ["path", { ...plain, path: "[*]/more" }],
    ["method", { ...plain, method: "SHOUT" }],
    ["handler", { ...plain, handler: "ok" }],
    ["auth", { ...plain, auth: true }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => endpoint(definition as never)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        detail: expect.stringMatching(new RegExp(`^${field}\\b`)),
      }),
    );
  });
});
