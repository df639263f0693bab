import { describe, expect, it } from "vitest";
import { fromHeaders } from "../contracts/trust/caller-context.ts";
import { judgeCaller, signCaller } from "./caller-trust.ts";

const chain = fromHeaders({
  "X-Agents-Api-Caller-Agent": "planner",
  "X-Agents-Api-Caller-Host": "https://agents.example/",
  "X-Agents-Api-Chain-Depth": "2",
  "X-Agents-Api-Chain-Root": "root-1",
});
const request = { method: "POST", path: "/threads?x=1", time: 1_800_000_000 };
const keys = { "https://agents.example": "shared" };
const signature = signCaller(chain, "shared", request);

describe("what another host claims about the agents behind a request", () => {
  it("counts when the host is believed by its name, or has signed it", () => {
    expect(judgeCaller(chain, undefined, request, { hosts: ["https://agents.example"] })).toBe("trusted");
    expect(judgeCaller(chain, signature, { ...request, time: request.time + 300 }, { keys })).toBe("trusted");
  });

  it("is passed over when nothing speaks for it", () => {
    expect(judgeCaller(chain, undefined, request, {})).toBe("unknown");
    expect(judgeCaller(chain, signature, request, {})).toBe("unknown");
    expect(
      judgeCaller(chain, undefined, request, { hosts: ["https://agents.example.evil", "http://agents.example"] }),
    ).toBe("unknown");
    // A host that has a key is to use it: anybody can write its name.
    expect(judgeCaller(chain, undefined, request, { keys, hosts: ["https://agents.example"] })).toBe("unknown");
  });

  it.each([
    ["another key", chain, signCaller(chain, "other", request), request],
    ["another depth", { ...chain, chain_depth: 1 }, signature, request],
    ["another agent", { ...chain, caller_agent_id: "clerk" }, signature, request],
    ["another path", chain, signature, { ...request, path: "/threads" }],
    ["another method", chain, signature, { ...request, method: "DELETE" }],
    ["another day", chain, signature, { ...request, time: request.time + 301 }],
    ["a time to come", chain, signature, { ...request, time: request.time - 301 }],
    ["no signature at all", chain, "t=1", request],
    ["half a signature", chain, signature.slice(0, -1), request],
  ])("is refused when it was signed for %s", (_what, claimed, given, at) => {
    expect(judgeCaller(claimed, given, at, { keys })).toBe("forged");
  });
});
