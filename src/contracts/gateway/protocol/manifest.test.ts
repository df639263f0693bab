import { describe, expect, it } from "vitest";
import { isCommandName, isPluginName, parseManifest } from "./manifest.ts";

const written = {
  manifest_spec: "ductile.plugin",
  manifest_version: 1,
  name: "fetch",
  version: "1.2.0",
  protocol: 2,
  entrypoint: "run.py",
  commands: [{ name: "handle", type: "write" }],
};

const parse = (changes: object, strict = false) => parseManifest({ ...written, ...changes }, { strict });
const command = (changes: object) => ({ commands: [{ name: "handle", type: "write", ...changes }] });

describe("a manifest", () => {
  it("is read with every default in place", () => {
    expect(parse({}, true)).toEqual({
      manifest: {
        name: "fetch",
        version: "1.2.0",
        description: "",
        entrypoint: "run.py",
        concurrency_safe: true,
        commands: [{ name: "handle", type: "write", description: "" }],
        fact_outputs: [],
        required_config: [],
      },
      warnings: [],
    });
  });

  it("is read with everything that it may hold", () => {
    const outcome = parse(
      {
        description: " Fetches pages. ",
        concurrency_safe: false,
        version: 1.5,
        commands: [
          {
            name: "poll",
            type: "read",
            description: "Looks.",
            input_schema: { type: "object", properties: { a: { type: "string" } } },
            output_schema: { url: "string", size: { type: "integer", minimum: 0 } },
            idempotent: true,
            retry_safe: false,
            values: {
              consume: ["payload.url", "payload.*"],
              emit: [{ event: "content_ready", values: ["payload.url", "payload.meta.size"] }, { event: "x" }],
            },
          },
        ],
        fact_outputs: [
          { when: { command: "poll" }, from: "state_updates", fact_type: "seen", compatibility_view: "mirror_object" },
          { when: { command: "poll" }, from: "state_updates", fact_type: "kept" },
        ],
        config_keys: { required: ["token", "url"], optional: ["limit"] },
        stopwatch: { max_subs: 5 },
      },
      true,
    );
    expect(outcome).toMatchObject({
      manifest: {
        version: "1.5",
        description: "Fetches pages.",
        concurrency_safe: false,
        commands: [
          {
            input_schema: { type: "object", properties: { a: { type: "string" } } },
            output_schema: {
              type: "object",
              properties: { url: { type: "string" }, size: { type: "integer", minimum: 0 } },
            },
            idempotent: true,
            retry_safe: false,
            values: {
              consume: ["payload.url", "payload.*"],
              emit: [
                { event: "content_ready", values: ["payload.url", "payload.meta.size"] },
                { event: "x", values: [] },
              ],
            },
          },
        ],
        fact_outputs: [
          { command: "poll", fact_type: "seen", mirrors: true },
          { command: "poll", fact_type: "kept", mirrors: false },
        ],
        required_config: ["token", "url"],
        optional_config: ["limit"],
      },
      warnings: [],
    });
  });

  it.each<[string, object]>([
    ["manifest_spec", { manifest_spec: undefined }],
    ["manifest_version", { manifest_version: undefined }],
    ["author", { author: "me" }],
    ["commands", { commands: { handle: { type: "write" } } }],
    ["color", command({ color: "red" })],
    ["banana", command({ input_schema: { url: "banana" } })],
  ])("is only warned of, or refused when strict: %s", (field, changes) => {
    expect(parse(changes)).toMatchObject({
      manifest: { name: "fetch", commands: [{ name: "handle" }] },
      warnings: [expect.stringContaining(field)],
    });
    expect(parse(changes, true)).toEqual({ problems: [expect.stringContaining(field)] });
  });

  it.each<[string, object]>([
    ["manifest_spec", { manifest_spec: "other.plugin" }],
    ["manifest_version", { manifest_version: 2 }],
    ["manifest_version", { manifest_version: "1" }],
    ["name", { name: undefined }],
    ["name", { name: "a/b" }],
    ["name", { name: "core.switch" }],
    ["version", { version: undefined }],
    ["version", { version: [] }],
    ["protocol", { protocol: undefined }],
    ["protocol", { protocol: 1 }],
    ["protocol", { protocol: "2" }],
    ["entrypoint", { entrypoint: undefined }],
    ["entrypoint", { entrypoint: "/bin/sh" }],
    ["entrypoint", { entrypoint: "../run.py" }],
    ["entrypoint", { entrypoint: "bin/../../run.py" }],
    ["entrypoint", { entrypoint: "..\\run.py" }],
    ["entrypoint", { entrypoint: "C:\\run.exe" }],
    ["entrypoint", { entrypoint: "run\0.py" }],
    ["description", { description: ["text"] }],
    ["concurrency_safe", { concurrency_safe: "no" }],
    ["commands", { commands: undefined }],
    ["commands", { commands: [] }],
    ["commands", { commands: {} }],
    ["commands", { commands: "handle" }],
    ["commands[0]", { commands: ["handle"] }],
    ["commands[0].name", command({ name: "1st" })],
    ["commands[0].name", command({ name: "do it" })],
    ["commands[0].name", command({ name: "__proto__" })],
    ["commands[0].type", command({ type: "admin" })],
    ["commands[0].type", command({ type: undefined })],
    ["commands.handle.type", { commands: { handle: {} } }],
    ["commands has handle twice", { commands: [...written.commands, ...written.commands] }],
    ["commands[0].description", command({ description: 7 })],
    ["commands[0].input_schema", command({ input_schema: "string" })],
    ["commands[0].output_schema.url", command({ output_schema: { url: 7 } })],
    ["commands[0].idempotent", command({ idempotent: "yes" })],
    ["commands[0].retry_safe", command({ retry_safe: 1 })],
    ["commands[0].values", command({ values: ["payload.url"] })],
    ["commands[0].values.consume", command({ values: { consume: ["url"] } })],
    ["commands[0].values.consume", command({ values: { consume: "payload.url" } })],
    ["commands[0].values.emit", command({ values: { emit: {} } })],
    ["commands[0].values.emit[0]", command({ values: { emit: [{ values: [] }] } })],
    ["fact_outputs", { fact_outputs: {} }],
    ["fact_outputs[0]", { fact_outputs: ["seen"] }],
    [
      "fact_outputs[0].when.command",
      { fact_outputs: [{ when: { command: "poll" }, from: "state_updates", fact_type: "a" }] },
    ],
    ["fact_outputs[0].from", { fact_outputs: [{ when: { command: "handle" }, from: "result", fact_type: "a" }] }],
    ["fact_outputs[0].fact_type", { fact_outputs: [{ when: { command: "handle" }, from: "state_updates" }] }],
    [
      "fact_outputs[0].compatibility_view",
      {
        fact_outputs: [
          { when: { command: "handle" }, from: "state_updates", fact_type: "a", compatibility_view: "merge" },
        ],
      },
    ],
    ["config_keys", { config_keys: ["token"] }],
    ["config_keys.required", { config_keys: { required: "token" } }],
    ["config_keys.optional", { config_keys: { optional: [7] } }],
  ])("that lies is refused, naming %s: %j", (field, changes) => {
    expect(parse(changes)).toEqual({ problems: [expect.stringContaining(field)] });
  });

  it("is refused with everything that is wrong at once", () => {
    const outcome = parse({ name: "", protocol: 3, commands: [] });
    expect("problems" in outcome && outcome.problems).toHaveLength(3);
  });

  it("is refused when it is no map at all, or not JSON", () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const value of [null, "name: x", [], circle, { ...written, name: 1n }]) {
      expect(parseManifest(value, { strict: false })).toEqual({ problems: [expect.any(String)] });
    }
  });
});

describe("names", () => {
  it("of plugins are letters, digits, _, - and .", () => {
    for (const name of ["fetch", "jina-reader", "sys_exec", "ts-bun-greet", "7zip", "a.b"])
      expect(isPluginName(name)).toBe(true);
    for (const name of ["", "-a", ".a", "a b", "a/b", "core.x", "ü", "a\n", "a".repeat(129), 7])
      expect(isPluginName(name)).toBe(false);
  });

  it("of commands begin with a letter", () => {
    for (const name of ["poll", "do-it", "do_it2"]) expect(isCommandName(name)).toBe(true);
    for (const name of ["", "2do", "_x", "do.it", "do it", "poll\n"]) expect(isCommandName(name)).toBe(false);
  });
});
