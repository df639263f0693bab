// Promise: `echo` answers with the text that it is sent, emits nothing, and fails in every way that it is told to.
import { describe, expect, it } from "vitest";
import { ask, entryPoint, handling, runProgram } from "./run-plugin.ts";

describe("echo", () => {
  it.each([
    "hello",
    'with "quotes"',
    "back\\slash\\",
    '\\"',
    "lines\nand\ttabs\r",
    "Grüße 😀 \u2028",
    "control \u0001 \u0000",
    '{"a":[1,2]}',
    "%s %d $HOME `id` $(id) 'x'",
    "/slash/",
    "x".repeat(300_000),
  ])("answers with the text and emits nothing: %.30j", async (text) => {
    const answer = await ask("echo", handling({ text, other: [1, { text: "not this" }] }));
    expect(answer).toEqual({ status: "ok", result: text, logs: [] });
  });

  it.each([
    ["an object", { b: 'x "y" \\', a: [1, 2.5e3, null, true, { text: "inner" }] }],
    ["an empty object", {}],
    ["a text that is none", { text: 5 }],
    ["a blank text", { text: "  " }],
    ["100 levels", { a: JSON.parse("[".repeat(100) + "]".repeat(100)) }],
  ])("answers with the payload as JSON where it has no text: %s", async (_what, payload) => {
    const answer = await ask("echo", handling(payload));
    expect(JSON.parse(answer.result ?? "")).toEqual(payload);
  });

  it("finds the text of a payload that is no event", async () => {
    expect(await ask("echo", { command: "handle", payload: { text: "plain" } })).toMatchObject({ result: "plain" });
  });

  it("reads a request that is laid out over several lines", async () => {
    const request = JSON.stringify(handling({ text: "hello", list: [1, 2] }), null, 2);
    expect(JSON.parse((await runProgram(entryPoint("echo"), request)).stdout).result).toBe("hello");
  });

  it.each(["poll", "health"])("answers %s", async (command) => {
    expect(await ask("echo", { command })).toMatchObject({ status: "ok" });
  });
});

describe("config.mode", () => {
  it("error gives an error that may be retried", async () => {
    expect(await ask("echo", { ...handling({}), config: { mode: "error" } })).toMatchObject({
      status: "error",
      retry: true,
    });
  });

  it("error with config.retry false gives one that may not", async () => {
    const config = { mode: "error", retry: false };
    expect(await ask("echo", { ...handling({}), config })).toMatchObject({ status: "error", retry: false });
  });

  it("protocol_error gives something that is no response", async () => {
    const input = JSON.stringify({ ...handling({}), config: { mode: "protocol_error" } });
    const { stdout, exitCode } = await runProgram(entryPoint("echo"), input);
    expect(exitCode).toBe(0);
    expect(() => JSON.parse(stdout)).toThrow();
  });

  it("may not be anything else", async () => {
    expect(await ask("echo", { ...handling({}), config: { mode: "loud" } })).toMatchObject({
      status: "error",
      retry: false,
    });
  });

  it.each(["error", "protocol_error", "hang"])("%s leaves health alone", async (mode) => {
    expect(await ask("echo", { command: "health", config: { mode } })).toMatchObject({ status: "ok" });
  });
});

describe("config.exit_code", () => {
  it.each([3, 78])("is what the process exits with, whatever it answers: %i", async (exit_code) => {
    const input = JSON.stringify({ ...handling({ text: "hello" }), config: { exit_code } });
    const ended = await runProgram(entryPoint("echo"), input);
    expect(ended.exitCode).toBe(exit_code);
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "ok", result: "hello" });
  });
});

describe("a request that is wrong", () => {
  it.each([
    ["nothing", ""],
    ["no JSON", "hello"],
    ["a list", '["command","handle"]'],
    ["a text", '"handle"'],
    ["half of it", '{"command":"handle","payload":{"text":"abc'],
    ["an unknown escape", '{"command":"handle","payload":{"text":"\\x41"}}'],
    ["half an escape", '{"command":"handle","payload":{"text":"\\u00"}}'],
    ["a line break in a text", '{"command":"handle","payload":{"text":"a\nb"}}'],
    ["no command", "{}"],
    ["an unknown command", '{"command":"delete"}'],
    ["10,000 levels", "[".repeat(10_000) + "]".repeat(10_000)],
  ])("has one response: %s", async (_what, input) => {
    const ended = await runProgram(entryPoint("echo"), input);
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "error", retry: false });
  });
});
