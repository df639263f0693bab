import { describe, expect, it } from "vitest";
import { declaresPolicy, isConfigured, normalize, resolve } from "./action-policy.ts";

const publish = { tool_name: "site/publish", tool_def: { category: "publishing" } };
const asUser = { workspace: { workspace_type: "site", workspace_id: 1 }, user_id: 3, agent_id: "editor" };

describe("a policy value", () => {
  it("is a word in any case, or what the fallback says", () => {
    expect(normalize("\tPREVIEW\n")).toBe("preview");
    expect(normalize("later", " Direct ")).toBe("direct");
    for (const value of ["", "forbid", 1, true, null, ["direct"]]) expect(normalize(value, {})).toBeNull();
  });
});

describe("how a tool may run", () => {
  it("follows the policy of the run in place of the agent's", () => {
    const agent_config = { action_policy: { categories: { publishing: "preview" } } };
    expect(resolve({ ...publish, agent_config })).toBe("preview");
    expect(resolve({ ...publish, agent: { default_config: agent_config } })).toBe("preview");
    for (const action_policy of [{}, []]) expect(resolve({ ...publish, agent_config, action_policy })).toBe("direct");
  });

  it("is asked of providers, then of the memory, then of the tool", () => {
    const asked: string[] = [];
    const answers = (who: string, answer: unknown) => () => {
      asked.push(who);
      return answer;
    };
    const tool_def = { action_policy: "preview" };
    const providers = ["no function", answers("first", "nonsense"), answers("second", null)];
    const memory = { recall: answers("memory", undefined) };
    expect(resolve({ ...publish, tool_def, ...asUser }, { providers, memory })).toBe("preview");
    expect(asked).toEqual(["first", "second", "memory"]);
  });

  it("takes the mode and the name of the tool as they are written", () => {
    const tool_def = { action_policy_: "preview", action_policy_chat: "forbidden", "action_policy_ chat ": "direct" };
    const asked = { ...publish, tool_def };
    for (const mode of [undefined, null, "chat"]) expect(resolve({ ...asked, mode })).toBe("forbidden");
    expect(resolve({ ...asked, mode: "" })).toBe("preview");
    expect(resolve({ ...asked, mode: " chat " })).toBe("direct");
    expect(resolve({ tool_name: " site/publish ", deny: ["site/publish"] })).toBe("direct");
    expect(resolve({ tool_name: " " }, { filter: () => "forbidden" })).toBe("forbidden");
  });

  it("asks nobody when a list or a policy decides", () => {
    const say = { providers: [() => expect.unreachable()] };
    expect(resolve({ ...publish, deny: ["site/publish"] }, say)).toBe("forbidden");
    expect(resolve({ ...publish, action_policy: { tools: { "site/publish": "direct" } } }, say)).toBe("direct");
  });

  it("is remembered for one user, agent and workspace, and for nobody in particular not at all", () => {
    const keys: unknown[] = [];
    const memory = { recall: (key: unknown) => keys.push(key) && "preview" };
    expect(resolve({ ...publish, ...asUser }, { memory })).toBe("preview");
    expect(keys).toEqual([
      {
        workspace: { workspace_type: "site", workspace_id: "1" },
        user_id: 3,
        agent_id: "editor",
        tool_name: "site/publish",
      },
    ]);
    for (const missing of [
      { user_id: 0, acting_user_id: 3 },
      { agent_id: " " },
      { workspace: { workspace_id: "1" } },
    ]) {
      expect(resolve({ ...publish, ...asUser, ...missing }, { memory })).toBe("direct");
    }
    expect(resolve({ ...publish, ...asUser, user_id: null, acting_user_id: "3" }, { memory })).toBe("preview");
    expect(resolve({ ...publish, ...asUser, agent_id: null, agent_slug: "writer" }, { memory })).toBe("preview");
  });

  it("is a promise only when somebody answers with one", async () => {
    const later = resolve(publish, { providers: [async () => null, async () => "preview"], filter: async () => null });
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe("preview");
    expect(await resolve({ ...publish, ...asUser }, { memory: { recall: async () => "forbidden" } })).toBe("forbidden");
  });

  it("is not decided over the head of somebody who fails", async () => {
    const fail = () => {
      throw new Error("The policy service is down.");
    };
    expect(() => resolve(publish, { providers: [fail] })).toThrow("down");
    expect(() => resolve({ ...publish, ...asUser }, { memory: { recall: fail } })).toThrow("down");
    expect(() => resolve(publish, { filter: fail })).toThrow("down");
    await expect(resolve(publish, { providers: [async () => fail()] })).rejects.toThrow("down");
  });

  it("cannot be looked up in a prototype", () => {
    const action_policy = { tools: JSON.parse('{"__proto__":{"site/publish":"forbidden"}}') };
    expect(resolve({ ...publish, action_policy })).toBe("direct");
    expect(resolve({ ...publish, tool_name: "constructor", action_policy })).toBe("direct");
  });
});

it("knows when anything but running at once may come out", () => {
  expect(isConfigured({})).toBe(false);
  expect(isConfigured({ action_policy: {} })).toBe(true);
  expect(isConfigured({ deny: [] })).toBe(true);
  expect(declaresPolicy({ action_policy_job: "preview" })).toBe(true);
  expect(declaresPolicy(publish.tool_def)).toBe(false);
});
