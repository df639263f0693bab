import { describe, expect, it } from "vitest";
import { asked, call, calls, machine, playInEveryWay, returned } from "../../test/machine.ts";
import * as message from "../contracts/conversation/message.ts";
import type { Arrived } from "./next.ts";
import type { RunOptions } from "./options.ts";

const until = (time: number): Arrived => ({ postponed: { until: time } });
const stop: Arrived = { stop: message.text("user", "Stop."), performed: false };
const compacts: RunOptions = {
  compactionPolicy: { enabled: true, max_messages: 2, recent_messages: 1 },
  summarizer: () => "",
};
const begun = ({ records }: ReturnType<typeof machine>) => records.filter(({ fact }) => fact.type === "begun").length;

describe("an attempt that is put off", () => {
  it("is waited for, and nothing is recorded meanwhile, also after a restart", () => {
    const { machine: made, asked: all } = playInEveryWay(machine, [undefined, until(50), undefined, undefined]);
    expect(all.slice(1)).toEqual(Array.from({ length: 3 }, () => ({ kind: "wait", until: 50 })));
    expect(made.state()).toMatchObject({ in_flight: null, postponed: { until: 50, times: 1 } });
    expect(begun(made)).toBe(1);
  });

  it("is ordered again from that time on, with a fresh beginning, and is not held up once it has begun", () => {
    const made = machine();
    made.bring();
    made.bring(until(50));
    expect(made.bring(undefined, 49)).toEqual({ kind: "wait", until: 50 });
    expect(asked(made.bring(undefined, 50))).toBe("call_model");
    expect(begun(made)).toBe(2);
    made.restart();
    expect(asked(made.bring(undefined, 10))).toBe("call_model");
    expect(begun(made)).toBe(2);
    expect(asked(made.bring(calls(call("a")), 10))).toBe("run_tool");
  });

  it("is ordered at once when the time is over by then", () => {
    const made = machine();
    made.bring(undefined, 100);
    expect(asked(made.bring(until(50), 100))).toBe("call_model");
  });

  it("is counted until an attempt comes to something", () => {
    const made = machine();
    made.bring();
    made.bring(until(50));
    made.bring(undefined, 50);
    made.bring(until(90), 60);
    expect(made.state().postponed).toEqual({ until: 90, times: 2, model: 0 });
    made.restart();
    made.bring(undefined, 90);
    made.bring(calls(call("a")), 90);
    expect(made.state().postponed).toBeNull();
    made.bring(returned(1), 90);
    made.bring(until(99), 90);
    expect(made.state().postponed).toEqual({ until: 99, times: 1, model: 0 });
    made.bring(undefined, 99);
    expect(made.bring({ threw: new Error("gone") }, 99)).toEqual({ kind: "end" });
    expect(made.state().postponed).toBeNull();
  });

  it.each([
    ["comes back", returned("summary")],
    ["fails", { threw: new Error("no summary") }],
  ] as [string, Arrived][])("may be a summary, and the model has attempts of its own once it %s", (_title, summary) => {
    const made = machine(compacts);
    made.bring();
    made.bring(calls(call("a"), call("b")));
    made.bring(returned(1));
    expect(asked(made.bring(returned(2)))).toBe("summarize");
    expect(made.bring(until(50))).toEqual({ kind: "wait", until: 50 });
    expect(made.state().position).toBe("turn.compact");
    made.takeDownAndUp();
    expect(asked(made.bring(undefined, 50))).toBe("summarize");
    expect(asked(made.bring(summary, 50))).toBe("call_model");
    expect(made.state().postponed).toBeNull();
  });

  it("belongs to a turn that was announced once", () => {
    const made = machine(compacts);
    made.bring();
    made.bring(calls(call("a"), call("b")));
    made.bring(returned(1));
    made.bring(returned(2));
    made.bring(until(50));
    expect(asked(made.bring(undefined, 50))).toBe("summarize");
    expect(made.notices.filter(({ event }) => event === "turn_started")).toHaveLength(2);
  });

  it("can be stopped while it waits", () => {
    const { machine: made, asked: all } = playInEveryWay(machine, [undefined, until(50), stop]);
    expect(all.at(-1)).toEqual({ kind: "end" });
    expect(made.state()).toMatchObject({ position: "ended", postponed: null, stops: { interrupted: true } });
  });

  it("takes no outcome while it waits: there is none to come", () => {
    const made = machine();
    made.bring();
    made.bring(until(50));
    expect(() => made.bring(calls(call("a")))).toThrow("the next attempt waits");
  });

  it("is never a tool: a second run is not ours to begin", () => {
    const made = machine();
    made.bring();
    made.bring(calls(call("a")));
    expect(() => made.bring(until(50))).toThrow("neither is under way at call.run");
    expect(() => machine().bring(until(50))).toThrow("neither is under way at flow.begin");
  });
});
