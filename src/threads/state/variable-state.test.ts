import { beforeEach, describe, expect, it } from "vitest";
import { commit, directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import { agent } from "../agent.ts";
import { prompt } from "../definitions/define-prompt.ts";
import type { VariableInput } from "../definitions/variable.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { variableState } from "./variable-state.ts";

const speaking = (name: string, variables: readonly VariableInput[]) => ({
  prompt: prompt({ name, prompt: "Help.", variables }),
});
const support = agent({
  name: "support",
  sideA: speaking("support_prompt", [{ name: "TONE", type: "text" }]),
  env: { TONE: "kind", CITY: "Rome" },
});
const keeper = agent({ name: "keeper", sideA: speaking("keeper_prompt", [{ name: "KEY", scoped: true }]) });

let host: Host;
let thread: Thread;

beforeEach(async () => {
  host = await hostInTest({
    agents: [support, keeper],
    env: { CITY: "Oslo", LAND: "Norway" },
    userEnv: async (userId) => (userId === "ada" ? { LAND: "England" } : {}),
  });
  thread = await openThread(host, { userId: "ada" });
});

const direct = (of: Thread = thread) => variableState(host, directScope(host, of));
const seen = (of: Thread, name: string) =>
  direct(of)
    .env(name)
    .catch(() => null);

describe("a variable", () => {
  it("has the value of the thread, then of the user, the process, the agent, the tool and the prompt", async () => {
    const env = { CITY: "tool", TONE: "tool", SIZE: "tool" };
    const promptEnv = { SIZE: "prompt", LAST: "prompt" };
    const variables = variableState(host, directScope(host, thread, { tool: { name: "t", env }, promptEnv }));
    const all = () => Promise.all(["LAND", "CITY", "TONE", "SIZE", "LAST"].map((name) => variables.env(name)));
    expect(await all()).toEqual(["England", "Oslo", "kind", "tool", "prompt"]);
    await variables.setEnv("LAND", "Chile");
    expect(await all()).toEqual(["Chile", "Oslo", "kind", "tool", "prompt"]);
    expect([variables.instanceEnv("CITY"), variables.instanceEnv("TONE"), variables.instanceEnv("toString")]).toEqual([
      "Oslo",
      null,
      null,
    ]);
  });

  it("that nobody has set is missing", async () => {
    await expect(direct().env("NOBODY")).rejects.toThrow(
      'variable_missing: There is no value for the variable "NOBODY".',
    );
    await expect(direct().env("constructor")).rejects.toThrow(/^variable_missing: /);
  });

  it("that is empty is there", async () => {
    await direct().setEnv("CITY", "");
    expect(await direct().env("CITY")).toBe("");
  });

  it("is a secret unless somebody says otherwise, and keeps its type", async () => {
    const variables = direct();
    await variables.setEnv("KEY", "1");
    expect(await variables.envType("KEY")).toBe("secret");
    await variables.setEnv("KEY", "2", { type: "text" });
    await variables.setEnv("KEY", "3");
    expect(await variables.envType("KEY")).toBe("text");
    expect([await variables.envType("TONE"), await variables.envType("NOBODY")]).toEqual(["text", null]);
  });

  it("is stored sealed", async () => {
    await direct().setEnv("KEY", "hunter2", { type: "text" });
    const [stored] = await host.stores.state.variables(thread.id);
    expect(JSON.stringify(stored)).not.toContain("hunter2");
    expect(host.sealing.open(stored?.sealed ?? "", thread.id)).toBe("hunter2");
  });

  it("set within a call is read there at once, and elsewhere after the commit", async () => {
    const scope = keptScope(host, thread);
    const variables = variableState(host, scope);
    await variables.setEnv("KEY", "new");
    expect([await variables.env("KEY"), await seen(thread, "KEY")]).toEqual(["new", null]);
    await commit(host, thread.id, scope.buffer);
    expect(await seen(thread, "KEY")).toBe("new");
  });

  it("is refused without a word about its value", async () => {
    const wrong = { secret: "hunter2" } as unknown as string;
    await expect(direct().setEnv("KEY", wrong)).rejects.toThrow("invalid_argument: value must be a text.");
    await expect(direct().setEnv("KEY", "hunter2", { type: "plain" as "text" })).rejects.not.toThrow("hunter2");
  });
});

describe("a value that is set", () => {
  it("reaches the descendants that have none of their own", async () => {
    const child = await openThread(host, { parent: thread.id });
    const grandchild = await openThread(host, { parent: child.id });
    await direct().setEnv("KEY", "one");
    await direct().setEnv("KEY", "two", { type: "text" });
    expect([await seen(child, "KEY"), await seen(grandchild, "KEY")]).toEqual(["two", "two"]);
    expect(await direct(grandchild).envType("KEY")).toBe("text");
    expect(await host.stores.state.variables(grandchild.id)).toMatchObject([{ name: "KEY", inherited: true }]);
  });

  it("leaves what a descendant has set itself, and what inherits from there", async () => {
    const child = await openThread(host, { parent: thread.id });
    const grandchild = await openThread(host, { parent: child.id });
    await direct(child).setEnv("KEY", "own");
    await direct().setEnv("KEY", "from above");
    expect([await seen(child, "KEY"), await seen(grandchild, "KEY")]).toEqual(["own", "own"]);
  });

  it("makes an inherited value the thread's own", async () => {
    const child = await openThread(host, { parent: thread.id });
    await direct().setEnv("KEY", "inherited");
    await direct(child).setEnv("KEY", "own");
    await direct().setEnv("KEY", "changed above");
    expect(await seen(child, "KEY")).toBe("own");
  });

  it("stops at a thread whose definitions keep the name to themselves, which hands it on to its own", async () => {
    const scoped = await openThread(host, { parent: thread.id, agent: "keeper" });
    const below = await openThread(host, { parent: scoped.id });
    await direct().setEnv("KEY", "from above");
    expect([await seen(scoped, "KEY"), await seen(below, "KEY")]).toEqual([null, null]);
    await direct(scoped).setEnv("KEY", "scoped");
    expect([await seen(thread, "KEY"), await seen(below, "KEY")]).toEqual(["from above", "scoped"]);
    await direct().setEnv("OTHER", "from above");
    expect(await seen(below, "OTHER")).toBe("from above");
  });

  it("does not reach a descendant that was terminated", async () => {
    const child = await openThread(host, { parent: thread.id });
    const scope = directScope(host, child);
    await scope.buffer.write({ write: "terminate", thread_id: child.id, stop: createEntry.stop("Enough.") });
    await direct().setEnv("KEY", "late");
    expect(await host.stores.state.variables(child.id)).toEqual([]);
  });
});
