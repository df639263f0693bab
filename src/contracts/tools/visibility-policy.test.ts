import { describe, expect, it } from "vitest";
import { isAutonomous, readPolicy } from "./visibility-policy.ts";

describe("reading a visibility policy", () => {
  it("takes the agent's fragment first, then the run's, then those of providers", () => {
    const context = {
      tool_policy: { tools: "run" },
      agent_config: { tool_policy: { mode: "allow", tools: ["agent"] } },
    };
    const { steps } = readPolicy(context, [null, "deny", { categories: ["host"] }]);
    expect(steps.map(({ mode, names, categories }) => [mode, ...names, ...categories])).toEqual([
      ["allow", "agent"],
      ["deny", "run"],
      ["deny", "host"],
    ]);
  });

  it("reads the defaults of the agent only without a configuration for the run", () => {
    const agent = { default_config: { tool_policy: { tools: ["a"] } } };
    expect(readPolicy({ agent }, []).steps).toHaveLength(1);
    expect(readPolicy({ agent, agent_config: {} }, []).steps).toHaveLength(0);
  });

  it("keeps the lists of a fragment whose mode it does not know", () => {
    const { steps, denied } = readPolicy({ tool_policy: { mode: "block", tools: ["a"], deny: ["b"] } }, []);
    expect(steps).toEqual([]);
    expect([...denied]).toEqual(["b"]);
  });

  it("counts as asked for whatever somebody listed by name or category, except to deny it", () => {
    const context = { allow_only: ["a"], runtime_tools: "b", runtime_categories: ["x"] };
    const { optedIn } = readPolicy(context, [
      { mode: "allow", tools: ["c"], categories: ["y"] },
      { mode: "deny", tools: ["never"], categories: ["never"] },
      { mandatory_tools: ["d"], mandatory_categories: ["z"], runtime_tools: ["a", "e"] },
    ]);
    expect([...optedIn.names].sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect([...optedIn.categories].sort()).toEqual(["x", "y", "z"]);
  });

  it("is in chat unless the context names a mode, which is taken as it is written", () => {
    const modes = [{}, { mode: null }, { mode: "" }, { mode: " job " }, { mode: 5 }];
    expect(modes.map((context) => readPolicy(context, []).mode)).toEqual(["chat", "chat", "", " job ", "5"]);
  });
});

describe("an autonomous run", () => {
  it("is one that acts for no user", () => {
    const user = { auth_source: "user_session", acting_user_id: 5 };
    expect([user, { principal: user }, { principal: { x: 1 }, ...user }].map(isAutonomous)).toEqual([
      false,
      false,
      false,
    ]);
    for (const context of [{}, { acting_user_id: "0" }, { principal: { auth_source: "user_session" } }]) {
      expect(isAutonomous(context)).toBe(true);
    }
    for (const auth_source of ["system", "runtime", "agent_token"]) {
      expect(isAutonomous({ principal: { ...user, auth_source } })).toBe(true);
    }
  });
});
