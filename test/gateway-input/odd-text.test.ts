// Text that databases have no place for, wherever it can come from: it is taken, carried to plugins, stored and shown.
import { describe, expect, it } from "vitest";
import { eachDatabase } from "../databases.ts";
import { readEvents } from "../gateway-doors/event-reader.ts";
import { serveGateway } from "../gateway-doors/served-gateway.ts";
import { send } from "../gateway-doors/signed.ts";
import { node } from "../plugin-folders.ts";

/** Answers with the event that it got. */
const tell = node(
  'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
  "  console.log(JSON.stringify({ status: 'ok', result: JSON.stringify(JSON.parse(text).event) }));",
  "});",
);

const odd = "a\0b\ud800c\udfffd\u2028e";
const payload = { text: odd, [`key ${odd}`]: [odd, { [odd]: odd }] };

eachDatabase((newWorld) => {
  describe("text with zeros and halves of characters", () => {
    it("as the type that a pipeline listens for is refused with the configuration", async () => {
      const world = await newWorld();
      const served = await serveGateway({
        plugins: { tell: { script: tell } },
        config: {
          pipelines: [{ name: "p", on: odd, steps: [{ uses: "tell", baggage: { carried: "payload.text" } }] }],
        },
        backend: world.backend,
      }).catch((thrown: unknown) => thrown);
      expect(served).toMatchObject({ code: "gateway_config_invalid" });
    });

    it("in payloads reaches the plugin as it was sent, by every way in, and is shown with the job", async () => {
      const world = await newWorld();
      const webhook = {
        path: "/w",
        plugin: "tell",
        secret: "the-webhook-secret",
        signature_header: "x-sig",
        dedupe_header: "x-id",
      };
      const served = await serveGateway({
        plugins: { tell: { script: tell } },
        config: {
          pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "tell", baggage: { carried: "payload.text" } }] }],
          webhooks: [webhook],
        },
        backend: world.backend,
      });
      const owner = await served.token();
      const sent = [
        (await served.ask(owner, "/events", { json: { type: "x.y", payload, dedupe_key: `e ${odd}` } })).body
          .job_ids[0],
        (await served.ask(owner, "/plugin/tell/handle", { json: { payload, dedupe_key: `c ${odd}` } })).body.job_id,
        (await served.ask(owner, "/pipeline/p", { json: { payload, dedupe_key: `p ${odd}` } })).body.job_id,
      ];
      await served.untilIdle();
      for (const id of sent) {
        const job = await served.gateway.jobs.get(id);
        expect(job).toMatchObject({ status: "succeeded" });
        const got = JSON.parse(job.result ?? "").payload;
        expect(got).toMatchObject({ text: expect.stringMatching(/^a.b.c.d.e$/s) });
        expect(Object.keys(got)).toHaveLength(id === sent[1] ? 2 : 3);
        const shown = await served.ask(owner, `/job/${id}`);
        expect(shown).toMatchObject({ status: 200 });
        expect(shown.body.payload.payload.text).toHaveLength(odd.length);
      }
      // The same key once more.
      const again = await served.ask(owner, "/plugin/tell/handle", { json: { payload, dedupe_key: `c ${odd}` } });
      expect(again.body).toMatchObject({ status: "duplicate", job_id: sent[1] });
      const hooked = await send(
        served,
        "/w",
        JSON.stringify({ type: `t ${odd}`, payload, source: odd, event_id: odd }),
        { "x-id": "1" },
      );
      expect(hooked.status).toBe(202);
      expect(await served.ended(hooked.body.job_id)).toMatchObject({ status: "succeeded" });
    });

    it("in everything that a plugin answers is stored and carried to the next step", async () => {
      const world = await newWorld();
      const emit = node(
        `const odd = ${JSON.stringify(odd)};`,
        "const event = { type: 'x.y', payload: { text: odd, [odd]: odd }, dedupe_key: odd, source: odd, timestamp: odd, event_id: odd };",
        "console.error(odd);",
        "console.log(JSON.stringify({ status: 'ok', result: odd, events: [event, { ...event, event_id: 'other', dedupe_key: odd + 2 }, { type: odd }],",
        "  state_updates: { [odd]: odd }, logs: [{ level: odd, message: odd }] }));",
      );
      const fail = node(
        `const odd = ${JSON.stringify(odd)};`,
        "process.stderr.write(Buffer.from([0, 255, 254, 10]));",
        "console.log(JSON.stringify({ status: 'error', error: odd, logs: [odd] }));",
      );
      const served = await serveGateway({
        plugins: { emit: { script: emit }, fail: { script: fail }, tell: { script: tell } },
        config: {
          pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "tell", baggage: { carried: "payload.text" } }] }],
        },
        backend: world.backend,
      });
      const owner = await served.token();
      const { id } = await served.run("emit");
      const tree = await served.gateway.jobs.tree(id);
      expect(tree.map(({ plugin, status }) => [plugin, status])).toEqual([
        ["emit", "succeeded"],
        ["tell", "succeeded"],
        ["tell", "succeeded"],
      ]);
      expect(await served.run("emit")).toMatchObject({ status: "succeeded" });
      const failed = await served.run("fail");
      expect(failed).toMatchObject({
        status: "failed",
        reason: "plugin_error",
        last_error: "a\ufffdb\ufffdc\ufffdd\u2028e",
      });
      for (const path of [`/job/${id}/tree`, "/job-logs", "/jobs"]) {
        expect((await served.ask(owner, path)).status, path).toBe(200);
      }
      const reader = await readEvents(served.url, { token: owner });
      const last = await served.gateway.events.last();
      await reader.until((frame) => Number(frame.id) === last);
      reader.leave();
    });

    it("in a goal and the context of a run ends in its workspace and in its trace", async () => {
      const world = await newWorld();
      const served = await serveGateway({
        backend: world.backend,
        setup: {
          planner: {
            frame: async () => ({ todo: [odd] }),
            plan: async () => ({ decision: "done", outcome: odd }),
            reflect: async () => ({ decision: "done", outcome: odd }),
          } as never,
        },
      });
      const owner = await served.token();
      const started = await served.ask(owner, "/runs", { json: { goal: odd, context: payload, run_id: "R1" } });
      await served.ended(started.body.job_id);
      const run = await served.ask(owner, "/runs/R1");
      expect(run).toMatchObject({ status: 200, body: { status: "done" } });
      expect((await served.ask(owner, "/runs/R1/trace")).status).toBe(200);
      const refused = await served.ask(owner, "/runs", { json: { goal: "g", run_id: odd } });
      expect(await served.ended(refused.body.job_id)).toMatchObject({ status: "failed", reason: "plugin_retry_false" });
    });

    it("in who submits and who cancels is stored too", async () => {
      const world = await newWorld();
      const served = await serveGateway({ plugins: { tell: { script: tell } }, backend: world.backend });
      const { gateway } = served;
      await gateway.pause(odd);
      const { job_ids } = await gateway.call("tell", "handle", { payload: {} }, { via: odd, user_id: `user:${odd}` });
      expect(await gateway.jobs.cancel(job_ids[0] ?? "", odd)).toBe("cancelled");
      await gateway.resume();
      expect(await gateway.jobs.get(job_ids[0] ?? "")).toMatchObject({ status: "dead", reason: "cancelled" });
      expect(await served.run("tell")).toMatchObject({ status: "succeeded" });
    });
  });
});
