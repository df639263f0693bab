import { describe, expect, it } from "vitest";
import { payloadOf, readBinding } from "./lifecycle-binding.ts";

describe("a binding", () => {
  it("is a tool's name, alone or with the arguments that speak", () => {
    expect(readBinding("done")).toEqual({ name: "done" });
    const whole = { name: "done", messageProperty: "summary", attachmentsProperty: "files" };
    expect(readBinding(whole)).toEqual(whole);
  });

  it.each([
    undefined,
    null,
    "",
    " ",
    7,
    [],
    {},
    { name: "" },
    { name: "done", messageProperty: 5 },
    { name: "done", message: "x" },
  ])("is none of these: %o", (given) => expect(readBinding(given)).toBeUndefined());
});

describe("what a bound call says", () => {
  const binding = { name: "done", messageProperty: "summary", attachmentsProperty: "files" };

  it("is the argument that the binding names, and otherwise what the tool came to", () => {
    expect(payloadOf(binding, { summary: " All well. " }, "ok").text).toBe("All well.");
    expect(payloadOf(binding, { summary: { pages: 3 } }, "ok").text).toBe('{"pages":3}');
    expect(payloadOf(binding, { summary: 0 }, "ok").text).toBe("0");
    for (const args of [{}, { summary: "  " }, { summary: null }])
      expect(payloadOf(binding, args, "ok").text).toBe("ok");
    expect(payloadOf({ name: "done" }, { summary: "x" }, "ok").text).toBe("ok");
  });

  it("tells files that are none from files that nobody spoke of", () => {
    const files = (given: unknown) => payloadOf(binding, { files: given } as never, "").attachments;
    expect(files([])).toEqual([]);
    expect(files("/attachments/a.pdf")).toEqual(["/attachments/a.pdf"]);
    expect(files(["/attachments/a.pdf", { path: "/attachments/b.pdf" }, 7])).toEqual([
      "/attachments/a.pdf",
      "/attachments/b.pdf",
      "7",
    ]);
    expect(files(null)).toBeNull();
    expect(payloadOf(binding, {}, "").attachments).toBeNull();
    expect(payloadOf({ name: "done" }, { files: ["/attachments/a.pdf"] }, "").attachments).toBeNull();
  });
});
