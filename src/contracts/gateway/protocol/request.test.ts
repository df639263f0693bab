import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../json.ts";
import { buildRequest, encodeRequest, type PluginRequest, type RequestParts } from "./request.ts";

const event = { type: "webhook", source: "webhook:/in", timestamp: "2026-02-16T12:00:00Z", event_id: "E1" };
const parts: RequestParts = {
  jobId: "J1",
  command: "handle",
  config: { a: 1 },
  state: {},
  deadlineAt: "2026-02-16T12:02:00Z",
  event,
};

function request(changes: Partial<RequestParts>): PluginRequest {
  const outcome = buildRequest({ ...parts, ...changes });
  if ("problem" in outcome) throw new Error(outcome.problem);
  return outcome.request;
}

const problem = (changes: Partial<RequestParts>) => {
  const outcome = buildRequest({ ...parts, ...changes });
  return "problem" in outcome ? outcome.problem : undefined;
};

describe("a request", () => {
  it("has every key of protocol v2 that the job has something for, and no other", () => {
    expect(request({ command: "poll" })).toEqual({
      protocol: 2,
      job_id: "J1",
      command: "poll",
      config: { a: 1 },
      state: {},
      deadline_at: "2026-02-16T12:02:00Z",
    });
    const full = request({ command: "crawl", payload: { url: "u" }, context: { run_id: "R1" }, workspaceDir: "/w" });
    expect(full).toMatchObject({ payload: { url: "u" }, context: { run_id: "R1" }, workspace_dir: "/w" });
    expect(full).not.toHaveProperty("event");
  });

  it("is written as one line of JSON", () => {
    const line = encodeRequest(request({ payload: { type: "a", payload: { text: "two\nlines" } } }));
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(JSON.parse(line)).toMatchObject({ event: { payload: { text: "two\nlines" } } });
  });
});

describe("the event of a request", () => {
  const stored = { type: "content_ready", payload: { step: 0, url: "u" }, source: "fetch", dedupe_key: "k" };

  it("is the stored envelope, completed where it lacks something", () => {
    const { payload, event: sent } = request({ payload: stored });
    expect(payload).toEqual(stored);
    expect(sent).toEqual({ ...stored, timestamp: event.timestamp, event_id: "E1" });
    expect(request({ payload: { payload: { a: 1 } } }).event).toEqual({ ...event, payload: { a: 1 } });
    expect(request({ payload: { type: "a" } }).event).toMatchObject({ type: "a", payload: {} });
  });

  it("has a stored payload with neither type nor payload as its payload, such as the body of a webhook", () => {
    const body = { action: "opened", payload: null };
    expect(request({ payload: body }).event).toEqual({ ...event, payload: body });
    expect(request({ payload: body }).payload).toEqual(body);
  });

  it("scenario 14: has the keys of the context that its payload lacks; what it has wins, and the context is sent as well", () => {
    const context = { run_id: "R1", step: 1, ductile_plugin: "fetch", ductile: { depth: 1 } };
    const sent = request({ payload: stored, context });
    expect(sent.event?.payload).toEqual({ step: 0, url: "u", run_id: "R1" });
    expect(sent.context).toEqual(context);
    expect(sent.payload).toEqual(stored);
  });

  it("is never polluted by keys such as __proto__", () => {
    const hostile = JSON.parse('{"type":"a","payload":{"constructor":1,"__proto__":{"x":1}}}') as JsonMap;
    const context = JSON.parse('{"__proto__":{"y":1},"toString":"t"}') as JsonMap;
    const payload = request({ payload: hostile, context }).event?.payload ?? {};
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
    expect(Object.keys(payload)).toEqual(["constructor", "__proto__", "toString"]);
    expect(payload.x).toBeUndefined();
    const other = request({ payload: { type: "a", payload: {} }, context }).event?.payload ?? {};
    expect(Object.getPrototypeOf(other)).toBe(Object.prototype);
    expect(other.y).toBeUndefined();
  });

  it("cannot be built from an envelope that is none", () => {
    expect(problem({ payload: { type: "a", payload: "text" } })).toContain("payload");
    expect(problem({ payload: { type: "a", payload: [1] } })).toContain("payload");
    expect(problem({ payload: { type: 7 } })).toContain("type");
  });
});

describe("the with map of a step", () => {
  it("adds to the payload of the event and replaces in it, after the context was copied in", () => {
    const sent = request({
      payload: { type: "a", payload: { n: 1, keep: true } },
      context: { run_id: "R1", ductile_step_id: "s" },
      with: { n: "{payload.n}!", id: "{payload.run_id}", at: "{context.ductile_step_id}" },
    });
    expect(sent.event?.payload).toEqual({ n: "1!", keep: true, run_id: "R1", id: "R1", at: "s" });
  });

  it("adds to the payload of any other command", () => {
    const sent = request({ command: "crawl", payload: { n: 1 }, with: { m: "{payload.n}" } });
    expect(sent.payload).toEqual({ n: 1, m: 1 });
    expect(request({ command: "crawl", with: { m: "x" } }).payload).toEqual({ m: "x" });
  });

  it("scenario 41: keeps the job from running when a path is missing", () => {
    expect(problem({ payload: { a: 1 }, with: { m: "{payload.missing}" } })).toContain("template");
    expect(problem({ command: "crawl", with: { m: "{payload.missing}" } })).toContain("template");
  });
});
