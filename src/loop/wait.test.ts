import { describe, expect, it } from "vitest";
import { asked, call, calls, machine, playInEveryWay, returned } from "../../test/machine.ts";
import type { Arrived, Next } from "./next.ts";

const pending = returned({ success: false, status: "runtime_tool_pending", error: "", runtime_tool_request: {} });
const approval = (action_id?: string) =>
  returned({ type: "approval_required", role: "assistant", content: "Shall I?", payload: { action_id } });

/** The names under which two calls of one id wait, one after the other in one run. */
function namesOfTwo(waits: Arrived, key = "key"): readonly string[] {
  const { bring } = machine({ newId: () => key }, { waiting: "park" });
  bring();
  bring(calls(call("a"), call("a")));
  const names: string[] = [];
  for (let parked = bring(waits); names.length < 2; parked = bring(waits)) {
    names.push(nameOf(parked));
    bring({ call: names.length - 1, request_id: nameOf(parked), outcome: { returned: "done" } });
  }
  return names;
}

function nameOf(parked: Next): string {
  if (parked.kind !== "park") throw new Error(`The run is not parked: it asks for ${asked(parked)}.`);
  return parked.request_id;
}

describe("a parked call", () => {
  it.each([
    ["an external runtime", pending],
    ["an approval that the tool asks for itself", approval()],
    ["an approval that the tool names itself", approval("the same")],
  ])("waits for %s under a name that no other call has, in this run or in another", (_what, waits) => {
    const names = [...namesOfTwo(waits), ...namesOfTwo(waits, "another key")];
    expect(new Set(names).size).toBe(4);
  });

  it("waits under the same name after the run was built again from its log", () => {
    const parking = () => machine({}, { waiting: "park" });
    const { asked: all } = playInEveryWay(parking, [undefined, calls(call("a")), pending, undefined]);
    expect(all.slice(-2).map(nameOf)).toEqual([namesOfTwo(pending)[0], namesOfTwo(pending)[0]]);
  });
});
