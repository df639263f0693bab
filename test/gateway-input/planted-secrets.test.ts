// Secrets in the configuration, in webhooks, in tokens and in payloads: they reach the plugins that need them, and are found in
// no answer, no log, no event, no error, and in no byte of the database.
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { eachDatabase } from "../databases.ts";
import { toolPipeline } from "../gateway/gateway-world.ts";
import { readEvents } from "../gateway-doors/event-reader.ts";
import { type ServedGateway, serveGateway } from "../gateway-doors/served-gateway.ts";
import { send, signature } from "../gateway-doors/signed.ts";
import { node } from "../plugin-folders.ts";
import { createPlants } from "../secrets/plants.ts";
import { printing, reported, stored } from "../secrets/whatever-is-told.ts";

/** Says all that it was told, wherever a plugin can say something; and how it ends depends on the payload. */
const leaky = node(
  'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
  "  const { config, event, payload } = JSON.parse(text);",
  "  const said = JSON.stringify(config);",
  "  const how = (event?.payload ?? payload ?? {}).how;",
  "  console.error(said);",
  '  if (how === "garbage") return console.log("garbage " + said);',
  '  if (how === "error") return console.log(JSON.stringify({ status: "error", error: said, retry: false, logs: [{ level: "error", message: said }] }));',
  '  if (how === "crash") throw new Error(said);',
  "  const events = how === 'emit' ? [{ type: 'leaked.event', payload: { said, config } }] : [];",
  "  const logs = ['debug', 'info', 'warn', 'error'].map((level) => ({ level, message: level + ' ' + said }));",
  "  console.log(JSON.stringify({ status: 'ok', result: said, state_updates: { said, config }, events, logs }));",
  "});",
);

/** What is read by whoever may read everything. */
async function readEverything(served: ServedGateway, token: string): Promise<Readonly<Record<string, string>>> {
  const jobs = await served.gateway.jobs.list({ limit: 200 });
  const paths = [
    ...[
      "/plugins",
      "/plugin/leaky",
      "/pipelines",
      "/jobs?limit=200",
      "/job-logs?limit=200",
      "/runs",
      "/scheduler/jobs",
    ],
    ...["/system/status", "/config/view", "/healthz", "/metrics", "/openapi.json", "/abilities"],
    ...jobs.flatMap(({ id }) => [`/job/${id}`, `/job/${id}/tree`, `/job-logs?job_id=${id}`]),
    ...(await served.gateway.runs.list()).flatMap(({ run_id }) => [`/runs/${run_id}`, `/runs/${run_id}/trace`]),
  ];
  const told: Record<string, string> = {};
  for (const path of paths) {
    const answer = await served.ask(token, path);
    expect(answer.status, path).toBe(200);
    told[`GET ${path.replaceAll(/[0-9a-f-]{36}/g, "…")}`] = answer.text;
  }
  const last = await served.gateway.events.last();
  const reader = await readEvents(served.url, { token });
  told["GET /events"] = JSON.stringify(await reader.until(({ id }) => Number(id) === last));
  reader.leave();
  told["POST /system/reload"] = (await served.ask(token, "/system/reload", { method: "POST" })).text;
  return told;
}

eachDatabase((newWorld) => {
  describe("a secret", () => {
    it("of a plugin, a webhook or an agent is told to nobody, however its plugin tries to say it, and lies nowhere in clear", async () => {
      const world = await newWorld();
      const plants = createPlants();
      const printed = printing();
      const env = {
        GATEWAY_TEST_PASSWORD: plants.plant("variable with a telling name"),
        GATEWAY_TEST_WORDS: plants.plant("variable below a telling key"),
        GATEWAY_TEST_WEBHOOK: plants.plantPlain("webhook by reference"),
        GATEWAY_TEST_DATABASE: `postgres://anna:${plants.plantPlain("url")}@db.example/shop`,
      };
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      onTestFinished(() => void vi.unstubAllEnvs());
      const inline = plants.plantPlain("webhook in the configuration");
      const webhook = { plugin: "leaky", signature_header: "x-sig" };
      const errors: unknown[] = [];
      const served = await serveGateway({
        plugins: {
          leaky: {
            script: leaky,
            manifest: { commands: "[{ name: handle, type: write }, { name: look, type: read }]" },
          },
        },
        config: {
          plugins: {
            leaky: {
              config: {
                url: "https://anna:${GATEWAY_TEST_PASSWORD}@mail.example/",
                database: "${GATEWAY_TEST_DATABASE}",
                tokens: [plants.plant("item of a list")],
                password: plants.plantNumber("number"),
                nested: [
                  { api_key: "${GATEWAY_TEST_WORDS}", private_key: plants.plant("written into the configuration") },
                ],
              },
            },
            "agentic-loop": { config: { allowed_plugins: ["leaky"] } },
          },
          webhooks: [
            { path: "/by-ref", ...webhook, secret_ref: "GATEWAY_TEST_WEBHOOK" },
            { path: "/inline", ...webhook, secret: inline },
          ],
          pipelines: [
            { name: "p", on: "x.y", execution_mode: "synchronous", steps: [{ uses: "leaky" }] },
            { name: "leaks", on: "leaked.event", steps: [{ uses: "leaky", baggage: { said: "payload.said" } }] },
            toolPipeline("leaky") as JsonMap,
          ],
        },
        setup: {
          planner: scriptedPlanner([
            { tool: "leaky", tool_payload: { how: "error" } },
            { decision: "done", outcome: "x" },
          ]),
        },
        backend: world.backend,
        options: { onError: (error) => void errors.push(error) },
      });
      const owner = await served.token();
      const heard: Record<string, string> = {};
      for (const how of ["tell", "emit", "error", "garbage", "crash"]) {
        const answer = await served.ask(owner, "/pipeline/p", { json: { payload: { how } } });
        expect(answer.status).toBe(200);
        heard[`POST /pipeline/p ${how}`] = answer.text;
        heard[`POST /plugin/leaky/look ${how}`] = (
          await served.ask(owner, "/plugin/leaky/look", { json: { payload: { how } } })
        ).text;
      }
      for (const [path, secret] of [
        ["/by-ref", env.GATEWAY_TEST_WEBHOOK],
        ["/inline", inline],
      ] as const) {
        const body = JSON.stringify({ how: "tell", secret_of_the_hook: secret });
        expect((await send(served, path, body, { "x-sig": signature(body, secret) })).status).toBe(202);
        heard[`POST ${path}, wrongly`] = (await send(served, path, body, { "x-sig": signature(body, "wrong") })).text;
      }
      const run = await served.ask(owner, "/runs", { json: { goal: `Use ${env.GATEWAY_TEST_WORDS}.`, run_id: "R1" } });
      expect(run.status).toBe(202);
      await served.untilIdle();
      expect((await served.gateway.runs.get("R1")).status).toBe("escalated");
      Object.assign(heard, await readEverything(served, owner), printed());
      heard["the gateway's log"] = JSON.stringify(served.logs);
      heard["the server's log"] = served.requests.join("\n");
      Object.assign(heard, reported(errors));
      // The plugin had them all: what it printed holds as many blanks.
      expect(heard["POST /pipeline/p tell"]).toContain("[redacted]");
      const leaks = Object.fromEntries(
        Object.entries({ ...heard, ...(await stored(world)) }).flatMap(([place, text]) => {
          const found = plants.foundIn(text);
          return found.length === 0 ? [] : [[place, found]];
        }),
      );
      expect(leaks).toEqual({});
    });

    it("in a payload is shown to whoever may read payloads, and stands in no log, no event and no byte of the database", async () => {
      const world = await newWorld();
      const plants = createPlants();
      const printed = printing();
      const tell = node(
        'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
        "  const { event } = JSON.parse(text);",
        "  const fails = event.payload.fails === true;",
        "  const events = event.type === 'x.z' ? [] : [{ type: 'x.z', payload: event.payload }];",
        "  console.error(text);",
        "  console.log(JSON.stringify(fails ? { status: 'error', error: text, retry: false } : { status: 'ok', result: text, state_updates: event.payload, events }));",
        "});",
      );
      const served = await serveGateway({
        plugins: { tell: { script: tell } },
        config: {
          pipelines: [{ name: "p", on: "x.z", steps: [{ uses: "tell", baggage: { carried: "payload.password" } }] }],
        },
        setup: { planner: scriptedPlanner([{ decision: "done", outcome: "x" }]) },
        backend: world.backend,
      });
      const owner = await served.token();
      const payload = { password: plants.plant("payload"), note: plants.plant("note") };
      const key = plants.plant("dedupe key");
      const json = { payload, dedupe_key: key };
      const sent = await served.ask(owner, "/plugin/tell/handle", { json });
      await served.ask(owner, "/plugin/tell/handle", { json });
      await served.ask(owner, "/plugin/tell/handle", { json: { payload: { ...payload, fails: true } } });
      await served.ask(owner, "/runs", { json: { goal: plants.plant("goal"), context: payload, run_id: "R1" } });
      await served.untilIdle();
      const shown = await served.ask(owner, `/job/${sent.body.job_id}`);
      expect(plants.foundIn(shown.text).toSorted()).toEqual(["dedupe key", "note", "payload"]);
      const withheld = await served.ask(await served.token("gateway.jobs"), `/job-logs?job_id=${sent.body.job_id}`);
      const places = {
        ...(await stored(world)),
        ...printed(),
        withheld: withheld.text,
        requests: served.requests.join("\n"),
        events: JSON.stringify(await served.gateway.events.read(0, 1_000)),
      };
      for (const [place, text] of Object.entries(places)) expect(plants.foundIn(text), place).toEqual([]);
    });
  });
});
