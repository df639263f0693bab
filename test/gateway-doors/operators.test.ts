// Promise: an operator sees how its gateway stands through every door, and what keeps it from going on.
import { describe, expect, it } from "vitest";
import { typeLines } from "../doors/type-command.ts";
import { plugin } from "../gateway/gateway-world.ts";
import { serveGateway } from "./served-gateway.ts";

const open = () => serveGateway({ setup: { plugins: [plugin("ok")] } });

describe("the numbers of the gateway", () => {
  const inJson = {
    gateway_jobs: { queued: 0, running: 0, succeeded: 1, failed: 0, timed_out: 0, dead: 0 },
    ...{ gateway_oldest_due_ms: 0, gateway_open_circuits: 0, gateway_paused: true },
  };

  it("stand beside those of threads, in JSON, as text for Prometheus and on the command line", async () => {
    const served = await open();
    const owner = await served.token();
    await served.run("ok");
    await served.gateway.pause("test");
    const { body } = await served.ask(owner, "/metrics");
    expect(body).toMatchObject({ ...inJson, gateway_plugins: served.gateway.plugins().length, workers: 1 });
    expect(await served.holdfast.metrics()).toEqual(body);

    const { text } = await served.ask(owner, "/metrics", { headers: { accept: "text/plain" } });
    expect(text).toContain('# TYPE holdfast_gateway_jobs gauge\nholdfast_gateway_jobs{status="queued"} 0\n');
    expect(text).toContain('holdfast_gateway_jobs{status="succeeded"} 1\n');
    expect(text).toMatch(/^# HELP holdfast_gateway_oldest_due_seconds .+\n.+\nholdfast_gateway_oldest_due_seconds 0$/m);
    expect(text).toMatch(/^holdfast_gateway_open_circuits 0$/m);
    expect(text).toMatch(/^holdfast_gateway_paused 1$/m);
    expect(text).toMatch(/^holdfast_gateway_plugins \d+$/m);

    const { code, out } = await typeLines({ url: served.url, token: owner }, ["metrics"]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^gateway_jobs\.succeeded +1$/m) });
    expect(out).toMatch(/^gateway_paused +true$/m);
  });
});

describe("what keeps the gateway from going on", () => {
  it("is found over HTTP and by holdfast doctor, which ends with 1", async () => {
    const served = await open();
    const owner = await served.token();
    const doctor = () => typeLines({ url: served.url, token: owner }, ["doctor"]);
    expect(await doctor()).toMatchObject({ code: 0, out: "Everything goes on.\n" });
    await served.gateway.pause("user:7");
    const { status, body } = await served.ask(owner, "/doctor");
    expect({ status, body }).toMatchObject({
      ...{ status: 200, body: { healthy: false, findings: [{ thread_id: null, cause: "gateway_paused" }] } },
    });
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toMatch(/^the gateway:\n {2}The gateway was paused by user:7 .+\n {2}holdfast gateway resume$/m);
  });
});
