// Configurations that cannot be used: refused with their places when the gateway is opened, and on a reload with 409, with
// the old one still running.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { eventually } from "../eventually.ts";
import { newFolder, serveGateway } from "../gateway-doors/served-gateway.ts";
import { shell, writePlugin } from "../plugin-folders.ts";

const pipeline = (text: string) => `pipelines:\n  - ${text}\n`;
const uses = "steps: [{ uses: good }]";

/** What is wrong in a file beside a plugin root with the plugin `good`, and what is said of it. */
const broken: Readonly<Record<string, readonly [yaml: string | Uint8Array, said: RegExp]>> = {
  "is no YAML": ["pipelines: [{ name: a", /gateway\.yaml:\d+:\d+: .*/],
  "has a tab as indentation": ["plugins:\n\tgood: {}\n", /gateway\.yaml:2:1: /],
  "is not UTF-8": [new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]), /gateway\.yaml:1:4: The file is not UTF-8/],
  "has a NUL in it": ['service: { name: "a\0b" }', /gateway\.yaml:1:\d+: .*U\+0000/],
  "is a list": ["- a\n- b\n", /gateway\.yaml:1:1: A configuration is a map/],
  "has two documents": ["service: {}\n---\nservice: {}\n", /one YAML document/],
  "is larger than 1 MiB": [`# ${"x".repeat(1_048_577)}\n`, /larger than 1 MiB/],
  "is nested 10,000 levels deep": [`plugins: ${"[".repeat(10_000)}${"]".repeat(10_000)}`, /nested at most/],
  "is an alias bomb": [
    `${Array.from({ length: 30 }, (_, n) =>
      n === 0
        ? "a0: &a0 [x,x,x,x,x,x,x,x,x,x]"
        : `a${n}: &a${n} [${Array(10)
            .fill(`*a${n - 1}`)
            .join(",")}]`,
    ).join("\n")}\nplugins: { good: { config: { bomb: *a29 } } }\n`,
    /gateway\.yaml:\d+:\d+: .*(alias|aliases|parts)/i,
  ],
  "has an alias that contains itself": ["plugins: { good: { config: &c { self: *c } } }", /gateway\.yaml:1:\d+: /],
  "has a key twice": ["service:\n  name: a\n  name: b\n", /gateway\.yaml:3:3: .*name/],
  "has the key __proto__": [
    "plugins: { good: { config: { __proto__: { a: 1 } } } }",
    /gateway\.yaml:1:\d+: .*__proto__/,
  ],
  "includes itself": ["include: [gateway.yaml]\n", /gateway\.yaml:1:\d+: .*includes itself/],
  "includes a file that is not there": [
    "include: [no.yaml]\n",
    /gateway\.yaml:1:\d+: \S*no\.yaml: There is no such file/,
  ],
  "names a variable that is not set": ["plugins: { good: { config: { a: '${NO_SUCH}' } } }", /NO_SUCH is not set/],
  "names a plugin that is not there": [pipeline("{ name: a, on: x, steps: [{ uses: goof }] }"), /:2:\d+: .*goof/],
  "names a sender that is not there": [pipeline(`{ name: a, on: x, from_plugin: goof, ${uses} }`), /:2:\d+: .*goof/],
  "has aliases in a circle": ["plugins: { a: { uses: b }, b: { uses: a } }", /:1:\d+: /],
  "has an alias of what is not there": ["plugins: { a: { uses: nothing } }", /nothing/],
  "has an alias that hides a plugin": ["plugins: { good: { uses: echo } }", /would hide/],
  "has a name twice": [
    `pipelines:\n  - { name: a, on: x, ${uses} }\n  - { name: a, on: y, ${uses} }\n`,
    /:3:\d+: .*\ba\b/,
  ],
  "has both triggers": [pipeline(`{ name: a, on: x, on-hook: job.failed, ${uses} }`), /:2:\d+: .*\ba\b/],
  "has no trigger": [pipeline(`{ name: a, ${uses} }`), /:2:\d+: /],
  "has no steps": [pipeline("{ name: a, on: x, steps: [] }"), /:2:\d+: /],
  "has two actions in a step": [pipeline("{ name: a, on: x, steps: [{ uses: good, call: a }] }"), /:2:\d+: /],
  "has a step id twice": [
    pipeline("{ name: a, on: x, steps: [{ id: s, uses: good }, { id: s, uses: good }] }"),
    /:2:\d+: /,
  ],
  "has a negative max_depth": [pipeline(`{ name: a, on: x, max_depth: -1, ${uses} }`), /:2:\d+: .*max_depth/],
  "has calls in a circle": [
    "pipelines:\n  - { name: a, on: x, steps: [{ call: b }] }\n  - { name: b, on: y, steps: [{ call: a }] }\n",
    /a -> b -> a/,
  ],
  "calls what is not there": [pipeline("{ name: a, on: x, steps: [{ call: nothing }] }"), /:2:\d+: .*nothing/],
  "claims __proto__ as baggage": [
    pipeline("{ name: a, on: x, steps: [{ uses: good, baggage: { __proto__.a: payload.b } }] }"),
    /:2:\d+: .*__proto__/,
  ],
  "claims what belongs to the gateway": [
    pipeline("{ name: a, on: x, steps: [{ uses: good, baggage: { ductile.a: payload.b } }] }"),
    /:2:\d+: .*ductile/,
  ],
  "has a regular expression that cannot be compiled": [
    pipeline(`{ name: a, on: x, if: { path: payload.a, op: regex, value: "(" }, ${uses} }`),
    /:2:\d+: .*regular expression/,
  ],
  "has a predicate 4 levels deep": [
    pipeline(`{ name: a, on: x, if: { all: [{ any: [{ not: { path: payload.a, op: exists } }] }] }, ${uses} }`),
    /:2:\d+: .*3 levels/,
  ],
  "lets an agent in by a tool request": [
    pipeline("{ name: a, on: agentic.tool_request.x, steps: [{ uses: agentic-loop }] }"),
    /:2:\d+: /,
  ],
  "relays to another gateway": [pipeline("{ name: a, on: x, steps: [{ relay: { to: b } }] }"), /:2:\d+: .*relay/],
  "has a cron date that never comes": [schedule('{ cron: "0 0 30 2 *" }'), /:1:\d+: .*never comes/],
  "has a cron value out of its range": [schedule('{ cron: "61 * * * *" }'), /:1:\d+: .*cron/],
  "has a cron expression of six fields": [schedule('{ cron: "* * * * * *" }'), /:1:\d+: .*five fields/],
  "has a date that does not exist": [schedule('{ at: "2027-02-30T12:00:00Z" }'), /:1:\d+: .*date that exists/],
  "has a time zone that does not exist": [
    schedule('{ cron: "0 0 * * *", timezone: Mars/Phobos }'),
    /:1:\d+: .*time zone/,
  ],
  "schedules handle": [schedule("{ every: 1m, command: handle }"), /:1:\d+: .*handle/],
  "has every and cron at once": [schedule('{ every: 1m, cron: "* * * * *" }'), /:1:\d+: .*exactly one/],
  "keeps jobs for less than their keys": [
    "service: { dedupe_ttl: 2d, job_queue_retention: 1d }",
    /:1:\d+: .*dedupe_ttl/,
  ],
  "has a webhook without a secret": [webhook("signature_header: x-sig"), /:1:\d+: .*secret/],
  "has a webhook for a plugin that is not there": [
    "webhooks: [{ path: /w, plugin: nothing, secret: s3cret-words, signature_header: x-sig }]",
    /nothing/,
  ],
  "has a path twice": [
    "webhooks:\n  - { path: /w, plugin: good, secret: one, signature_header: x }\n  - { path: /w, plugin: good, secret: two, signature_header: x }\n",
    /:3:\d+: .*already taken/,
  ],
};

function schedule(text: string): string {
  return `plugins: { good: { schedules: [${text}] } }\n`;
}

function webhook(text: string): string {
  return `webhooks: [{ path: /w, plugin: good, ${text} }]\n`;
}

/** A folder with a plugin, and a configuration that is spread over two files. */
function configured(yaml: string | Uint8Array): string {
  const folder = newFolder();
  writePlugin(join(folder, "plugins"), "good", {
    manifest: { commands: "[{ name: handle, type: write }, { name: poll, type: write }]" },
  });
  writeFileSync(join(folder, "gateway.yaml"), yaml);
  writeFileSync(join(folder, "main.yaml"), "plugin_roots: [plugins]\ninclude: [gateway.yaml]\n");
  return folder;
}

describe("a configuration that", () => {
  it.each(Object.entries(broken))("%s opens no gateway, and says where it is wrong", async (_, [yaml, said]) => {
    const folder = configured(yaml);
    const opened = createHoldfast({ backend: sqlite(":memory:"), agents: [], gateway: join(folder, "main.yaml") });
    const refused = await opened.then(
      async (holdfast) => {
        await holdfast.close();
        return undefined;
      },
      (thrown: unknown) => thrown,
    );
    expect(refused).toMatchObject({ code: "gateway_config_invalid", detail: expect.stringMatching(said) });
  });

  it("is broken in every way is refused by a reload with 409 each time, and jobs go on under the old one", async () => {
    const served = await serveGateway({
      plugins: { good: { script: shell(`echo '{"status":"ok","result":"good"}'`) } },
      config: { pipelines: [{ name: "old", on: "x.y", steps: [{ uses: "good" }] }] },
      asFile: true,
    });
    const owner = await served.token();
    const before = (await served.ask(owner, "/config/view")).body;
    for (const [what, [yaml, said]] of Object.entries(broken)) {
      writeFileSync(join(served.configFile, "..", "broken.yaml"), withName(yaml, "gateway.yaml", "broken.yaml"));
      writeFileSync(served.configFile, JSON.stringify({ plugin_roots: [served.root], include: ["broken.yaml"] }));
      const reloaded = await served.ask(owner, "/system/reload", { method: "POST" });
      expect(reloaded.status, what).toBe(409);
      expect(reloaded.headers.get("content-type"), what).toBe("application/problem+json");
      const { code, detail, error } = reloaded.body;
      expect({ code, detail }, what).toMatchObject({
        code: "gateway_config_invalid",
        detail: expect.stringMatching(
          new RegExp(said.source.replaceAll("gateway\\.yaml", "broken\\.yaml"), said.flags),
        ),
      });
      expect(error, what).toBe(detail);
    }
    expect((await served.ask(owner, "/config/view")).body).toEqual(before);
    const { body } = await served.ask(owner, "/events", { json: { type: "x.y" } });
    expect(await served.ended(body.job_ids[0])).toMatchObject({ status: "succeeded", result: "good" });
  });

  it("is gone is refused as well, and one that is right again is taken", async () => {
    const served = await serveGateway({ plugins: { good: {} }, asFile: true });
    const owner = await served.token();
    rmSync(served.configFile);
    expect(await served.ask(owner, "/system/reload", { method: "POST" })).toMatchObject({ status: 409 });
    served.write({ pipelines: [{ name: "new", on: "x.y", steps: [{ uses: "good" }] }] });
    const reloaded = await served.ask(owner, "/system/reload", { method: "POST" });
    expect(reloaded).toMatchObject({ status: 200, body: { pipelines: 1 } });
    const { body } = await served.ask(owner, "/pipelines");
    expect(body.pipelines.map(({ name }: { name: string }) => name)).toEqual(["new"]);
  });

  it("takes a plugin away fails the jobs that wait for it, and those only", async () => {
    const served = await serveGateway({ plugins: { good: {}, other: {} }, asFile: true });
    const { gateway } = served;
    await gateway.pause("test");
    const job = (await gateway.call("other", "handle", { payload: {} }, { via: "api" })).job_ids[0] ?? "";
    rmSync(join(served.root, "other"), { recursive: true });
    await gateway.reload();
    await gateway.resume();
    expect(await served.run("good")).toMatchObject({ status: "succeeded" });
    await eventually(async () => expect((await gateway.jobs.get(job)).status).toBe("failed"));
    expect(await gateway.jobs.get(job)).toMatchObject({
      reason: "preflight",
      last_error: expect.stringContaining("other"),
    });
  });
});

function withName(yaml: string | Uint8Array, from: string, to: string): string | Uint8Array {
  return typeof yaml === "string" ? yaml.replaceAll(from, to) : yaml;
}
