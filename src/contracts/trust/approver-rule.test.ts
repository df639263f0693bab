import { describe, expect, it } from "vitest";
import { type Asked, isAgentItself, read, refusalOf } from "./approver-rule.ts";
import * as principal from "./principal.ts";

const requester = principal.userSession(7, "shop");
const asked: Asked = { agent: "shop", requester };
const nobody = { authorize: () => false, hasRole: () => false };

describe("an agent does not decide about its own actions", () => {
  it("by its token, its runtime or the system in its name, however that is written", () => {
    for (const name of ["shop", "Shop", " shop\n", "--SHOP--"]) {
      expect(isAgentItself(principal.agentToken(7, name, 4), asked)).toBe(true);
      expect(isAgentItself(principal.runtime("box", name), asked)).toBe(true);
      expect(isAgentItself(principal.system(name), asked)).toBe(true);
      expect(isAgentItself(principal.system("shop"), { ...asked, agent: name })).toBe(true);
    }
  });

  it("nor about those of the agents it works for, or of the one it took over from", () => {
    const child: Asked = { agent: "worker", origin_agent: "Helper", ancestors: ["lead", "chief"], requester };
    for (const name of ["worker", "helper", "lead", "chief"]) {
      expect(isAgentItself(principal.agentToken(7, name, 4), child)).toBe(true);
    }
    expect(isAgentItself(principal.agentToken(7, "other", 4), child)).toBe(false);
  });

  it("nor by the very token that set it off, whichever agent that is for", () => {
    const planner = principal.agentToken(7, "planner", 4);
    expect(isAgentItself(planner, { agent: "shop", requester: planner })).toBe(true);
    expect(isAgentItself(principal.agentToken(7, "planner", 5), { agent: "shop", requester: planner })).toBe(false);
  });

  it("while people do, and so do other agents and the program", () => {
    expect(isAgentItself(requester, asked)).toBe(false);
    expect(isAgentItself(principal.agentToken(7, "clerk", 4), asked)).toBe(false);
    expect(isAgentItself(principal.system("console"), asked)).toBe(false);
  });

  it("which comes before everything that a rule says", async () => {
    const yes = { authorize: () => true, hasRole: () => true };
    expect(await refusalOf({ users: [7] }, principal.agentToken(7, "Shop", 4), asked, yes)).toContain(
      "its own actions",
    );
    expect(await refusalOf({ users: [7] }, principal.userSession(7, "shop"), asked, nobody)).toBeUndefined();
  });
});

describe("the users of a rule", () => {
  it("are whole numbers above zero, and nothing that merely looks like one", () => {
    expect(read({ users: [7, 12] })).toEqual({ users: [7, 12] });
    for (const users of [["7"], [7.5], [0], [-1], [true], [[7]], [2 ** 53], [Number.NaN], [null], [7, "8"], [], 7]) {
      expect(read({ users }), JSON.stringify(users)).toBe("users must be a list of user numbers");
    }
  });
});
