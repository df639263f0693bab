import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../json.ts";
import {
  autoClaim,
  readCorrelation,
  requestKey,
  resultDedupeKey,
  resultKey,
  toolRequestSuffix,
  toolRequestType,
  withoutReservedKeys,
} from "./correlation.ts";

const payload = { run_id: "R1", step: 2, tool: "fetch", tool_command: "handle", url: "u" };

describe("a tool request that starts a pipeline", () => {
  it("trap T2: has its correlation claimed without any baggage, the attempt counted from 1", () => {
    expect(autoClaim({ type: "agentic.tool_request.jina-reader", payload }, "agentic-loop")).toEqual({
      kind: "claimed",
      claims: { run_id: "R1", step: 2, tool: "fetch", tool_command: "handle", attempt: 1, agent: "agentic-loop" },
    });
  });

  it("keeps its attempt, and names as agent the plugin that emitted it, whatever the payload says", () => {
    const event = { type: "agentic.tool_request.fetch", payload: { ...payload, attempt: 3, agent: "other-agent" } };
    expect(autoClaim(event, "agentic-loop")).toMatchObject({ claims: { attempt: 3, agent: "agentic-loop" } });
  });

  it.each<[string, JsonMap, string[]]>([
    ["nothing", {}, ["run_id", "step", "tool"]],
    ["a blank run", { ...payload, run_id: " " }, ["run_id"]],
    ["a step that is no whole number", { ...payload, step: 1.5 }, ["step"]],
    ["a step as text", { ...payload, step: "2" }, ["step"]],
    ["a step below 1", { ...payload, step: 0 }, ["step"]],
    ["no tool", { run_id: "R1", step: 1 }, ["tool"]],
  ])("has nothing claimed when it holds %s", (_title, incomplete, missing) => {
    const event = { type: "agentic.tool_request.fetch", payload: incomplete };
    expect(autoClaim(event, "agentic-loop")).toEqual({ kind: "incomplete", missing });
  });

  it("is known by its type", () => {
    expect(autoClaim({ type: "content_ready", payload }, "fetch")).toEqual({ kind: "none" });
    expect(toolRequestSuffix(toolRequestType("jina-reader"))).toBe("jina-reader");
    for (const type of ["agentic.tool_request.", "agentic.tool_request", "agentic.tool_result"]) {
      expect(toolRequestSuffix(type)).toBeUndefined();
    }
  });
});

describe("the correlation in a context", () => {
  it("is read from own keys, or is not there", () => {
    expect(readCorrelation({ ...payload, attempt: 2, agent: "a" })).toEqual({
      run_id: "R1",
      step: 2,
      tool: "fetch",
      tool_command: "handle",
      attempt: 2,
      agent: "a",
    });
    expect(readCorrelation({ ...payload, attempt: "x", tool_command: 7 })).toEqual({
      run_id: "R1",
      step: 2,
      tool: "fetch",
      attempt: 1,
    });
    expect(readCorrelation({})).toBeUndefined();
    expect(readCorrelation(undefined)).toBeUndefined();
    expect(readCorrelation(Object.create(payload))).toBeUndefined();
  });
});

describe("the keys of a step", () => {
  it("trap T5: bear the attempt from the second on", () => {
    const step = { run_id: "R1", step: 2, attempt: 1 };
    expect([requestKey(step), resultKey(step)]).toEqual([
      "agentic:run:R1:step:2:request",
      "agentic:run:R1:step:2:result",
    ]);
    expect(requestKey({ ...step, attempt: 3 })).toBe("agentic:run:R1:step:2:request:attempt:3");
    expect(resultKey({ ...step, attempt: 3 })).toBe("agentic:run:R1:step:2:result:attempt:3");
  });

  it("are completed when a tool answers a later attempt under the key of the first", () => {
    const event = { type: "agentic.tool_result", dedupe_key: "agentic:run:R1:step:2:result" };
    const later = { ...payload, attempt: 2 };
    expect(resultDedupeKey(event, later)).toBe("agentic:run:R1:step:2:result:attempt:2");
    expect(resultDedupeKey(event, payload)).toBe(event.dedupe_key);
    expect(resultDedupeKey(event, {})).toBe(event.dedupe_key);
    const suffixed = { ...event, dedupe_key: `${event.dedupe_key}:attempt:2` };
    expect(resultDedupeKey(suffixed, later)).toBe(suffixed.dedupe_key);
    expect(resultDedupeKey({ ...event, type: "content_ready" }, later)).toBe(event.dedupe_key);
    expect(resultDedupeKey({ ...event, dedupe_key: "mine" }, later)).toBe("mine");
    expect(resultDedupeKey({ type: "agentic.tool_result" }, later)).toBeUndefined();
  });
});

describe("scenario 12: the payload for a tool", () => {
  it("holds no reserved key", () => {
    expect(withoutReservedKeys({ ...payload, attempt: 9, requested_at: "x", tool_payload: {} })).toEqual({ url: "u" });
  });
});
