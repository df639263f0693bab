// Plugins that answer with anything but one JSON object of the protocol: each job fails with a reason, the next one runs.
import { describe, expect, it } from "vitest";
import { serveGateway } from "../gateway-doors/served-gateway.ts";
import { node, type PluginFiles, shell } from "../plugin-folders.ts";

const MIB = 1024 * 1024;

/** What a plugin does, and what is said of it. */
type Bad = { readonly script: string; readonly reason: string; readonly error: RegExp; readonly retried: boolean };

const printing = (text: string): string => shell(`printf '%s' '${text}'`);
const unreadable = { reason: "spawn_error", retried: true };

const answers: Readonly<Record<string, Bad>> = {
  "half an object": { ...unreadable, script: printing('{"status":"ok"'), error: /not one JSON object/ },
  nothing: { ...unreadable, script: shell("exit 0"), error: /wrote nothing/ },
  "white space": { ...unreadable, script: printing("  \n\t "), error: /wrote nothing/ },
  "two objects": { ...unreadable, script: printing('{"status":"ok"}\n{"status":"ok"}'), error: /not one JSON object/ },
  "a list": { ...unreadable, script: printing("[]"), error: /not one JSON object/ },
  "a text before it": { ...unreadable, script: printing('Hello.\n{"status":"ok"}'), error: /not one JSON object/ },
  "a byte order mark": {
    ...unreadable,
    script: shell(`printf '\\357\\273\\277{"status":"ok"}'`),
    error: /not one JSON object/,
  },
  "the status maybe": { ...unreadable, script: printing('{"status":"maybe"}'), error: /neither "ok" nor "error"/ },
  "an error without text": { ...unreadable, script: printing('{"status":"error"}'), error: /error is not text/ },
  "events that are no list": {
    ...unreadable,
    script: printing('{"status":"ok","result":"x","events":{"type":"x"},"state_updates":{"a":1}}'),
    error: /events is not a list/,
  },
  "an event without a type": {
    ...unreadable,
    script: printing('{"status":"ok","result":"x","events":[{"type":"x"},{"payload":{}}],"state_updates":{"a":1}}'),
    error: /events\[1\]\.type/,
  },
  "state that is no map": {
    ...unreadable,
    script: printing('{"status":"ok","result":"x","state_updates":[1]}'),
    error: /state_updates/,
  },
  garbage: { ...unreadable, script: shell("head -c 4096 /dev/urandom"), error: /not UTF-8|not one JSON object/ },
  "bytes that are no UTF-8": {
    ...unreadable,
    script: shell(`printf '{"status":"ok","result":"\\377\\376"}'`),
    error: /not UTF-8/,
  },
  "a NUL byte": { ...unreadable, script: shell(`printf '{"status":"ok"\\000}'`), error: /not one JSON object/ },
  "JSON 10,000 levels deep": {
    ...unreadable,
    script: node(
      'const deep = "[".repeat(10_000) + "]".repeat(10_000);',
      'console.log(`{"status":"ok","result":${deep}}`);',
    ),
    error: /nested deeper than 512/,
  },
  "11 MiB": {
    ...unreadable,
    script: shell(`printf '{"status":"ok","result":"'`, `head -c ${11 * MIB} /dev/zero | tr '\\0' x`, `printf '"}'`),
    error: /more than 10485760 bytes/,
  },
  "more and more without an end": {
    ...unreadable,
    script: shell("exec cat /dev/zero"),
    error: /more than 10485760 bytes/,
  },
  "ok and the exit code 3": {
    script: shell(`echo '{"status":"ok","result":"x","events":[{"type":"x.y"}],"state_updates":{"a":1}}'`, "exit 3"),
    ...{ reason: "nonzero_exit", error: /exited with code 3/, retried: true },
  },
  "ok and death by a signal": {
    script: shell(`echo '{"status":"ok","result":"x"}'`, "kill -9 $$"),
    ...{ reason: "nonzero_exit", error: /ended by a signal/, retried: true },
  },
  "ok and the exit code 78": {
    script: shell(`echo '{"status":"ok","result":"x"}'`, "exit 78"),
    ...{ reason: "exit_code_78", error: /exited with code 78/, retried: false },
  },
  "garbage and the exit code 78": {
    script: shell("echo garbage", "exit 78"),
    ...{ reason: "exit_code_78", error: /not one JSON object/, retried: false },
  },
  "an error": {
    script: printing('{"status":"error","error":"It is broken.","events":[{"type":"x.y"}],"state_updates":{"a":1}}'),
    ...{ reason: "plugin_error", error: /^It is broken\.$/, retried: true },
  },
  "an error for good": {
    script: printing('{"status":"error","error":"It is broken.","retry":false}'),
    ...{ reason: "plugin_retry_false", error: /^It is broken\.$/, retried: false },
  },
};

const good: PluginFiles = { script: shell(`echo '{"status":"ok","result":"good"}'`) };

/** Two attempts, the second one right after the first. */
const twice = { retry: { max_attempts: 2, backoff_base: "0s" } };

describe("a plugin that answers with", () => {
  it.each(Object.entries(answers))(
    "%s fails its job, applies nothing and keeps no other from running",
    async (_, bad) => {
      const served = await serveGateway({
        plugins: { bad: { script: bad.script }, good },
        config: { plugins: { bad: twice }, pipelines: [{ name: "next", on: "x.y", steps: [{ uses: "good" }] }] },
      });
      const { gateway } = served;
      const [wrong, right] = await Promise.all(
        ["bad", "good"].map((plugin) => gateway.call(plugin, "handle", { payload: {} }, { via: "api" })),
      );
      const failed = await served.ended(wrong?.job_ids[0] ?? "");
      expect(failed).toMatchObject({ status: "failed", reason: bad.reason, attempt: bad.retried ? 2 : 1 });
      expect(failed.last_error).toMatch(bad.error);
      expect(await gateway.jobs.get(right?.job_ids[0] ?? "")).toMatchObject({ status: "succeeded", result: "good" });
      expect(await gateway.jobs.tree(failed.id)).toHaveLength(1);
      expect(await served.holdfast.gateway?.jobs.list({ limit: 10 })).toHaveLength(2);
    },
  );
});

describe("what was printed", () => {
  it("scenario 38: is kept as it is with the attempt, though it could not be read", async () => {
    const served = await serveGateway({ plugins: { bad: { script: printing('{"status":"ok"') } } });
    const { id } = await served.run("bad");
    expect(await served.lastAttempt(id)).toMatchObject({ outcome: "failed", response: '{"status":"ok"', exit_code: 0 });
  });

  it("scenario 39: to stdout is kept up to 64 KiB where it is 11 MiB; of 1 MiB of stderr 64 KiB are", async () => {
    const loud = shell(`head -c ${MIB} /dev/zero | tr '\\0' e >&2`, `echo '{"status":"ok","result":"heard"}'`);
    const served = await serveGateway({
      plugins: { bad: { script: answers["11 MiB"]?.script ?? "" }, loud: { script: loud } },
    });
    const { id } = await served.run("bad");
    const { response } = await served.lastAttempt(id);
    expect(response).toHaveLength(64 * 1024);
    expect(response).toMatch(/^\{"status":"ok","result":"x{100}/);
    const heard = await served.run("loud");
    expect(heard).toMatchObject({ status: "succeeded", result: "heard" });
    const { stderr } = await served.lastAttempt(heard.id);
    expect(stderr).toBe("e".repeat(64 * 1024));
  });

  it("with lone surrogates and escaped NULs is an answer, and reaches the next step as text that can be stored", async () => {
    const odd = printing(
      '{"status":"ok","result":"r\\ud800","events":[{"type":"x.y","payload":{"a\\ud800":"\\ud800b\\u0000"}}],"state_updates":{"\\u0000":"\\udfff"}}',
    );
    const tell = node(
      'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
      "  const { event } = JSON.parse(text);",
      '  console.log(JSON.stringify({ status: "ok", result: JSON.stringify(event.payload) }));',
      "});",
    );
    const served = await serveGateway({
      plugins: { odd: { script: odd }, tell: { script: tell } },
      config: { pipelines: [{ name: "next", on: "x.y", steps: [{ uses: "tell" }] }] },
    });
    const { id, result } = await served.run("odd");
    expect(result).toBe("r\ufffd");
    const [, told] = await served.gateway.jobs.tree(id);
    expect(JSON.parse(told?.result ?? "")).toMatchObject({ "a\ufffd": "\ufffdb\ufffd", result: "r\ufffd" });
  });
});
