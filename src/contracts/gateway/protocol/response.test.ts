import { describe, expect, it } from "vitest";
import { type DecodeOptions, decodeResponse, decodeStdout, MAX_LOG_MESSAGE_BYTES } from "./response.ts";

const decode = (answer: unknown, exitCode: number | null = 0, options?: DecodeOptions) =>
  decodeResponse({
    stdout: typeof answer === "string" ? answer : JSON.stringify(answer),
    exitCode,
    ...(options && { options }),
  });

const protocolError = { outcome: "failed", reason: "spawn_error", retryable: true, logs: [] };
const ok = { status: "ok", result: "done" };
const failure = { status: "error", error: "no" };

describe("an answer that is ok", () => {
  it("is read as it was written; what is unknown is ignored", () => {
    const events = [{ type: "a", payload: { x: 1 }, dedupe_key: "k", source: "s", timestamp: "t", event_id: "e" }];
    const logs = [{ level: "warn", message: "careful" }];
    const answer = { ...ok, events, state_updates: { s: 1 }, logs };
    expect(decode({ ...answer, ductile_stopwatch_subs: [], retry: "?" })).toEqual({
      outcome: "succeeded",
      response: answer,
      warnings: [],
    });
  });

  it("has no events, logs and state updates unless it says so; null counts as absent", () => {
    const expected = { outcome: "succeeded", response: { ...ok, events: [], logs: [] }, warnings: [] };
    expect(decode(ok)).toEqual(expected);
    expect(decode({ ...ok, events: null, logs: null, state_updates: null, error: null })).toEqual(expected);
    expect(decode({ ...ok, state_updates: {} })).toMatchObject({ response: { state_updates: {} } });
    expect(decode({ ...ok, events: [{ type: " a " }] })).toMatchObject({
      response: { events: [{ type: "a", payload: {} }] },
    });
  });

  it("has no state updates with an empty list, as an empty map comes from some languages; under strict_protocol it is malformed", () => {
    const answer = { ...ok, state_updates: [] };
    expect(decode(answer)).toEqual({
      ...{ outcome: "succeeded", response: { ...ok, events: [], logs: [] }, warnings: [] },
    });
    const error = expect.stringContaining("state_updates");
    expect(decode(answer, 0, { strict_protocol: true })).toEqual({ ...protocolError, error });
  });

  it.each([
    { events: {} },
    { events: ["a"] },
    { events: [{ payload: {} }] },
    { events: [{ type: " " }] },
    { events: [{ type: "a", payload: "text" }] },
    { events: [{ type: "a", payload: [1] }] },
    { events: [{ type: "a", dedupe_key: 7 }] },
    { state_updates: "text" },
    { state_updates: [1] },
    { logs: "text" },
  ])("is malformed with %j", (fields) => {
    const [field] = Object.keys(fields);
    expect(decode({ ...ok, ...fields })).toEqual({ ...protocolError, error: expect.stringContaining(`${field}`) });
  });

  it("trap T11: has the result ok when it names none, with a warning; under strict_protocol it is malformed", () => {
    for (const result of [undefined, null, "", "  "]) {
      expect(decode({ ...ok, result })).toMatchObject({ response: { result: "ok" }, warnings: [expect.any(String)] });
      expect(decode({ ...ok, result }, 0, { strict_protocol: true })).toMatchObject(protocolError);
    }
  });

  it("has a result that is not text written out as JSON; under strict_protocol it is malformed", () => {
    for (const result of [7, true, { a: [1] }, []]) {
      expect(decode({ ...ok, result })).toMatchObject({ response: { result: JSON.stringify(result) } });
      expect(decode({ ...ok, result }, 0, { strict_protocol: true })).toMatchObject(protocolError);
    }
  });
});

describe("an answer that is an error", () => {
  it("is retried unless it says retry: false", () => {
    expect(decode(failure)).toEqual({
      outcome: "failed",
      reason: "plugin_error",
      retryable: true,
      error: "no",
      logs: [],
    });
    expect(decode({ ...failure, retry: true })).toMatchObject({ reason: "plugin_error", retryable: true });
    expect(decode({ ...failure, retry: null })).toMatchObject({ reason: "plugin_error", retryable: true });
    expect(decode({ ...failure, retry: false })).toMatchObject({ reason: "plugin_retry_false", retryable: false });
  });

  it("keeps its reason when the process exits with another code than 0", () => {
    expect(decode(failure, 1)).toMatchObject({ reason: "plugin_error", retryable: true, error: "no" });
    expect(decode({ ...failure, retry: false }, 1)).toMatchObject({ reason: "plugin_retry_false", retryable: false });
  });

  it("trap T6: has its events and state updates ignored, whatever they are", () => {
    const decoded = decode({ ...failure, retry: false, events: 7, state_updates: "x", logs: [{ message: "m" }] });
    expect(decoded).toEqual({
      outcome: "failed",
      reason: "plugin_retry_false",
      retryable: false,
      error: "no",
      logs: [{ level: "info", message: "m" }],
    });
  });

  it.each([
    {},
    { error: "" },
    { error: null },
    { error: 7 },
    { error: { message: "no" } },
    { error: "e", retry: "false" },
  ])("is malformed with %j", (fields) => {
    expect(decode({ status: "error", ...fields })).toMatchObject(protocolError);
  });
});

describe("scenario 38: stdout that is not one JSON object", () => {
  it.each([
    ["nothing", ""],
    ["white space", " \n\t "],
    ["a cut answer", '{"status":"ok"'],
    ["two answers", '{"status":"ok","result":"x"}{"status":"ok","result":"x"}'],
    ["text before the answer", 'hello\n{"status":"ok","result":"x"}'],
    ["text after it", '{"status":"ok","result":"x"} bye'],
    ["a list", "[]"],
    ["text", '"ok"'],
    ["null", "null"],
    ["an unknown status", '{"status":"maybe"}'],
    ["a status in capitals", '{"status":"OK","result":"x"}'],
    ["no status", '{"result":"x"}'],
    ["a raw NUL", '{"status":"ok","result":"\0"}'],
    ["a byte order mark", '\ufeff{"status":"ok","result":"x"}'],
    ["JSON 10,000 levels deep", `{"status":"ok","result":"x","events":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["brackets without end", "[".repeat(1_000_000)],
  ])("%s is a protocol error, which is retried", (_title, stdout) => {
    expect(decode(stdout)).toEqual({ ...protocolError, error: expect.stringMatching(/\.$/) });
  });

  it("may have white space around it", () => {
    expect(decode(`  ${JSON.stringify(ok)}\r\n\n`)).toMatchObject({ outcome: "succeeded" });
  });

  it("is a protocol error too when its bytes are no UTF-8", () => {
    expect(decodeStdout(new Uint8Array([0x7b, 0xff]))).toBeUndefined();
    expect(decodeStdout(new TextEncoder().encode("{é}"))).toBe("{é}");
    expect(decodeResponse({ stdout: new Uint8Array([0x7b, 0xc3, 0x7d]), exitCode: 0 })).toMatchObject(protocolError);
    expect(decodeResponse({ stdout: new TextEncoder().encode(JSON.stringify(ok)), exitCode: 0 })).toMatchObject({
      outcome: "succeeded",
    });
    expect(
      decodeResponse({ stdout: new TextEncoder().encode(`\ufeff${JSON.stringify(ok)}`), exitCode: 0 }),
    ).toMatchObject(protocolError);
  });

  it("is read up to 512 levels", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const answer = (levels: number) => `{"status":"ok","result":"x","state_updates":{"a":${nested(levels)}}}`;
    expect(decode(answer(510))).toMatchObject({ outcome: "succeeded" });
    expect(decode(answer(511))).toMatchObject({ ...protocolError, error: expect.stringContaining("512") });
  });
});

describe("what an answer holds", () => {
  it("can be stored: NUL and halves of characters are replaced, and nothing is polluted", () => {
    const stdout = String.raw`{"status":"ok","result":"a\u0000b\ud800","events":[{"type":"e","payload":{"\udfff":"x\u0000"}}],
      "state_updates":{"__proto__":{"polluted":1},"a":1e999}}`;
    expect(decode(stdout)).toEqual({
      outcome: "succeeded",
      response: {
        status: "ok",
        result: "a\ufffdb\ufffd",
        events: [{ type: "e", payload: { "\ufffd": "x\ufffd" } }],
        state_updates: { a: null },
        logs: [],
      },
      warnings: [],
    });
  });

  it("is at most 200 log entries of 8 KiB, with no character cut in half", () => {
    const entry = { level: "info", message: "é".repeat(MAX_LOG_MESSAGE_BYTES) };
    const decoded = decode({
      ...ok,
      logs: [{ level: "info", message: `x${entry.message}` }, ...Array(250).fill(entry)],
    });
    if (decoded.outcome !== "succeeded") throw new Error(decoded.error);
    expect(decoded.response.logs).toHaveLength(200);
    expect(decoded.response.logs[0]?.message).toBe(`x${"é".repeat(MAX_LOG_MESSAGE_BYTES / 2 - 1)}`);
    expect(decoded.response.logs[1]?.message).toBe("é".repeat(MAX_LOG_MESSAGE_BYTES / 2));
    expect(decoded.warnings).toEqual([expect.stringContaining("51")]);
  });

  it("is log entries of every shape, each as text under a level that is known", () => {
    const logs = [
      { level: "WARNING", message: "a" },
      { level: "loud", message: "b" },
      "c",
      { text: "d" },
      { level: "error" },
    ];
    expect(decode({ ...ok, logs })).toMatchObject({
      response: {
        logs: [
          { level: "warn", message: "a" },
          { level: "info", message: "b" },
          { level: "info", message: "c" },
          { level: "info", message: '{"text":"d"}' },
          { level: "error", message: '{"level":"error"}' },
        ],
      },
      warnings: [expect.stringContaining("logs[2]")],
    });
    expect(decode({ ...ok, logs }, 0, { strict_protocol: true })).toMatchObject(protocolError);
    expect(decode({ ...ok, logs: logs.slice(0, 2) }, 0, { strict_protocol: true })).toMatchObject({
      outcome: "succeeded",
    });
  });
});

describe("the exit code of a process", () => {
  it("is a failure when it is not 0, whatever was answered, and keeps the logs", () => {
    const logs = [{ level: "info", message: "m" }];
    expect(decode({ ...ok, logs }, 3)).toMatchObject({ reason: "nonzero_exit", retryable: true, logs });
    expect(decode(ok, 3, { exit_code_policy: "strict" })).toMatchObject({ reason: "nonzero_exit", retryable: true });
  });

  it("is missing after death by a signal, which counts as not 0", () => {
    expect(decode(ok, null)).toMatchObject({ reason: "nonzero_exit", retryable: true });
    expect(decode("", null)).toMatchObject(protocolError);
  });

  it("is only warned of under the policy envelope", () => {
    const options = { exit_code_policy: "envelope" } as const;
    expect(decode(ok, 3, options)).toMatchObject({
      outcome: "succeeded",
      warnings: [expect.stringContaining("code 3")],
    });
  });

  it.each([{}, { exit_code_policy: "strict" }, { exit_code_policy: "envelope" }] as const)(
    "78 is permanent whatever was answered, with the options %j",
    (options) => {
      for (const answer of [ok, failure, { ...failure, retry: true }, { ...failure, retry: false }, "", "garbage"]) {
        const decoded = decode(answer, 78, options);
        expect(decoded).toMatchObject({ outcome: "failed", reason: "exit_code_78", retryable: false });
      }
    },
  );
});
