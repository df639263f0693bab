import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import * as principal from "../trust/principal.ts";
import { mayChat, mayControlRun } from "./chat-permission.ts";

const input = { agent: "writer", message: "hi" };
const store = {
  getAccess: async (agent_id: string, user_id: number) => ({ agent_id, user_id, role: "operator" }) as never,
};

describe("who may chat", () => {
  it("is for the host alone to say of a principal that it states, whatever that was granted", async () => {
    const stated = { ...input, principal: principal.runtime("r", "writer") };
    const hooks = createHooks();
    expect(await mayChat(stated, { store, currentUserId: 7, hooks })).toBe(false);
    hooks.filter("chatRuntimePrincipalPermission", (_, { auth_source }) => auth_source === "runtime");
    expect(await mayChat(stated, { store, currentUserId: 7, hooks })).toBe(true);
    expect(await mayChat({ ...stated, principal: { auth_source: "?" } }, { isAdministrator: true, hooks })).toBe(false);
  });

  it("leaves the last word to a hook, and what fails there lets nobody in", async () => {
    const hooks = createHooks();
    const remove = hooks.filter("chatPermission", (allowed) => !allowed);
    expect(await mayChat(input, { store, currentUserId: 7, hooks })).toBe(false);
    remove();
    hooks.filter("chatPermission", () => {
      throw new Error("The directory is down.");
    });
    await expect(mayChat(input, { isAdministrator: true, hooks })).rejects.toThrow("The directory is down.");
  });
});

describe("who may steer a run", () => {
  it("reads by a grant where an agent is named, administrators too", async () => {
    expect(await mayControlRun("read", input, { isAdministrator: true, mayRead: true })).toBe(false);
    expect(await mayControlRun("read", {}, { mayRead: true })).toBe(true);
    expect(await mayControlRun("read", input, { store, currentUserId: 7 })).toBe(true);
  });

  it("is granted in the workspace of the run, unless another is named beside it", async () => {
    const here = { workspace_type: "site", workspace_id: 5 };
    const granted = {
      getAccess: async (agent_id: string, user_id: number, workspace_id: string | null) =>
        (workspace_id === "5" ? { agent_id, user_id, role: "viewer" } : null) as never,
    };
    const reads = (more: object) => mayControlRun("read", { ...input, ...more }, { store: granted, currentUserId: 7 });
    expect(await reads({ workspace: here })).toBe(true);
    expect(await reads({ workspace: here, workspace_id: null })).toBe(true);
    expect(await reads({ workspace: here, workspace_id: "6" })).toBe(false);
    expect(await reads({ workspace: { ...here, workspace_id: ["5"] } })).toBe(false);
    expect(await mayChat({ ...input, workspace: here }, { store: granted, currentUserId: 7 })).toBe(false);
  });

  it("may cancel and enqueue in a session of one's own, and see all of it only with more", async () => {
    const own = { session_owner: { type: "user", key: "7" } };
    for (const wish of ["cancel", "enqueue"] as const) {
      expect(await mayControlRun(wish, own, { currentUserId: 7 })).toBe(true);
      expect(await mayControlRun(wish, own, { currentUserId: 8 })).toBe(false);
      expect(await mayControlRun(wish, {}, { currentUserId: 7 })).toBe(false);
      expect(await mayControlRun(wish, {}, { isAdministrator: true })).toBe(true);
    }
    expect(await mayControlRun("unredacted", own, { currentUserId: 7 })).toBe(false);
  });

  it("is asked of the wish's own hook, then of the one for all of them", async () => {
    const hooks = createHooks();
    const asked: string[] = [];
    hooks.filter("chatRunCancelPermission", () => asked.push("own") > 0);
    hooks.filter("chatRunControlPermission", (allowed, _, kind) => asked.push(`${kind} ${allowed}`) > 0 && allowed);
    expect(await mayControlRun("cancel", {}, { hooks })).toBe(true);
    expect(asked).toEqual(["own", "cancel true"]);
  });
});
