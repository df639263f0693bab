import { describe, expect, it } from "vitest";
import { completeEvent, eventId, isReservedForOutside } from "./event.ts";

const origin = { source: "fetch", timestamp: "2026-02-16T12:00:00.000Z", jobId: "J1", index: 0 };

describe("an emitted event", () => {
  it("gets the source, time and id that it lacks", () => {
    expect(completeEvent({ type: "content_ready", payload: { a: 1 } }, origin)).toEqual({
      type: "content_ready",
      payload: { a: 1 },
      source: "fetch",
      timestamp: "2026-02-16T12:00:00.000Z",
      event_id: eventId("J1", 0),
    });
  });

  it("keeps what the plugin wrote, its time in UTC", () => {
    const event = {
      type: "a",
      payload: {},
      source: "mine",
      timestamp: "2026-02-16T13:00:00+01:00",
      event_id: "e-1",
      dedupe_key: " k ",
    };
    expect(completeEvent(event, origin)).toEqual({ ...event, timestamp: "2026-02-16T12:00:00.000Z", dedupe_key: "k" });
    expect(completeEvent({ ...event, timestamp: "2026-02-16T12:00:00Z" }, origin).timestamp).toBe(
      "2026-02-16T12:00:00Z",
    );
  });

  it("has no dedupe key, source, time or id that is blank or unusable", () => {
    const event = { type: "a", payload: {}, dedupe_key: " ", source: "", timestamp: "yesterday", event_id: " \0" };
    expect(completeEvent(event, origin)).toEqual(completeEvent({ type: "a", payload: {} }, origin));
  });
});

describe("the id of an event", () => {
  it("is a UUID of version 5 that follows from the job and the place in its response", () => {
    expect(eventId("J1", 0)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(eventId("J1", 0)).toBe(eventId("J1", 0));
    const pairs: [string, number][] = [
      ["J1", 0],
      ["J1", 1],
      ["J2", 0],
      ["J1\n0", 0],
      ["J11", 0],
      ["J1", 10],
    ];
    expect(new Set(pairs.map(([job, index]) => eventId(job, index))).size).toBe(pairs.length);
  });
});

describe("a type of event", () => {
  it.each([
    ...["agentic.tool_result", " agentic.tool_result ", "agentic.tool_request.fetch", "Agentic.Tool_Result"],
    ...["agent.completed", "agent.escalated", "dead_letter", "ductile.step.succeeded", "job.failed"],
    ...["router.depth_exceeded", "scheduler.tick", "pipeline.enqueued", "plugin.spawned", "poll.started"],
  ])("is reserved: %s", (type) => {
    expect(isReservedForOutside(type)).toBe(true);
  });

  it.each(["agentic.start", "api.trigger", "content_ready", "agents.hired", "agent", "jobs.new", "my.agent.completed"])(
    "may come from outside: %s",
    (type) => {
      expect(isReservedForOutside(type)).toBe(false);
    },
  );
});
