import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import { readCreateArguments, readInitialPayload, readMessageArguments, threadName } from "./create-arguments.ts";

const whole = {
  agent: "reviewer",
  message: "Read it.",
  attachments: ["/attachments/a.txt"],
  name: " First \n reader ",
};

describe("what a child is created with", () => {
  it("is read, and its name is put into one line", () => {
    expect(readCreateArguments({ ...whole, arguments: { depth: 2 } })).toEqual({
      ok: true,
      value: {
        agent: "reviewer",
        message: "Read it.",
        attachments: ["/attachments/a.txt"],
        name: "First reader",
        arguments: { depth: 2 },
      },
    });
  });

  it("may have no files and no arguments", () => {
    expect(readCreateArguments({ ...whole, attachments: [] })).toMatchObject({
      value: { attachments: [], arguments: null },
    });
  });

  it.each<[string, JsonMap]>([
    ["agent", { agent: " " }],
    ["agent", { agent: 7 }],
    ["message", { message: "" }],
    ["message", { message: ["Read it."] }],
    ["attachments", { attachments: null }],
    ["attachments", { attachments: "/attachments/a.txt" }],
    ["attachments[1]", { attachments: ["/attachments/a.txt", 7] }],
    ["attachments[0]", { attachments: [" "] }],
    ["name", { name: "\n" }],
    ["name", { name: null }],
    ["arguments", { arguments: [1] }],
    ["arguments", { arguments: "x" }],
  ])("names %s when it is wrong", (argument, wrong) => {
    const read = readCreateArguments({ ...whole, ...wrong });
    expect(read.ok ? "" : read.error).toMatch(new RegExp(`^${RegExp.escape(argument)} must be`));
  });

  it("names everything that is missing at once", () => {
    const read = readCreateArguments({});
    const error = read.ok ? "" : read.error;
    for (const argument of ["agent", "message", "attachments", "name"]) expect(error).toContain(`${argument} must be`);
    expect(error).not.toContain("arguments must be");
  });
});

describe("what a child is written", () => {
  it("is read", () => {
    expect(readMessageArguments({ referenceId: " id ", message: "Go on.", attachments: [] })).toEqual({
      ok: true,
      value: { reference: "id", message: "Go on.", attachments: [] },
    });
  });

  it("has to have a reference, a message and a list of files", () => {
    const read = readMessageArguments({ reference: "id" });
    expect(read.ok ? "" : read.error).toBe(
      "referenceId must be a text that is not blank; message must be a text that is not blank; attachments must be a list of paths, and may be [].",
    );
  });
});

describe("what a call under a child's own name begins with", () => {
  const init = {
    initUserMessageProperty: "task",
    initAttachmentsProperty: "files",
    initAgentNameProperty: "called",
  };

  it("comes from the arguments that are named for it", () => {
    expect(readInitialPayload(init, { task: "Sum up.", files: "/attachments/a.txt", called: "Ada\tL." })).toEqual({
      ok: true,
      value: { message: "Sum up.", attachments: ["/attachments/a.txt"], name: "Ada L." },
    });
    expect(readInitialPayload(init, { task: "Sum up.", files: ["/attachments/a.txt"] })).toMatchObject({
      value: { attachments: ["/attachments/a.txt"], name: null },
    });
  });

  it.each<[string, JsonMap, string]>([
    ["a message that is no text is JSON", { task: { page: 3 } }, '{"page":3}'],
    ["without the message all arguments are it", { page: 3 }, '{\n  "page": 3\n}'],
    ["without arguments it is empty", {}, ""],
  ])("%s", (_, given, message) => {
    expect(readInitialPayload(init, given)).toMatchObject({ value: { message } });
  });

  it("is everything when no argument is named for the message", () => {
    expect(readInitialPayload({}, { task: "x" })).toMatchObject({ value: { message: '{\n  "task": "x"\n}' } });
  });

  it("names the argument that should hold files", () => {
    expect(readInitialPayload(init, { files: { path: "/attachments/a.txt" } })).toMatchObject({ ok: false });
    const read = readInitialPayload(init, { files: ["/attachments/a.txt", null] });
    expect(read.ok ? "" : read.error).toContain("files[1] must be a path");
  });

  it("takes the name from the values that it is given when the arguments have none", () => {
    expect(readInitialPayload(init, {}, { called: "Ada" })).toMatchObject({ value: { name: "Ada" } });
    expect(readInitialPayload(init, { called: "Bea" }, { called: "Ada" })).toMatchObject({ value: { name: "Bea" } });
  });
});

describe("the name of a thread", () => {
  it("has at most 120 characters, and no half ones", () => {
    expect(threadName(`${"a ".repeat(100)}`)).toHaveLength(119);
    expect([...threadName("🧵".repeat(200))]).toHaveLength(120);
    expect(threadName("🧵".repeat(200)).isWellFormed()).toBe(true);
  });
});
