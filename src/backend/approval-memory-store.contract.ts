// What every approval memory promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { ApprovalMemoryStore, RememberedApproval } from "./approval-memory-store.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";

const key = {
  ...{ workspace_type: "site", workspace_id: "1", user_id: 7, agent_id: "writer", tool_name: "posts/publish" },
} as const;

const direct: RememberedApproval = {
  ...key,
  ...{ policy: "direct", policy_version: "policy-1", request_id: "request 1", decided_by: '{"user":7}', mac: "hmac:7" },
};

export function describeApprovalMemoryStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`approval memory on ${name}`, () => {
    let world: StoresInTest;
    let memory: ApprovalMemoryStore;

    beforeEach(async () => {
      world = await open();
      memory = world.stores.approvalMemory;
    });

    it("recalls what was last remembered, with who decided it, until it is told to forget", async () => {
      expect(await memory.recall(key)).toBeUndefined();
      await memory.remember({ ...direct, policy: "forbidden" });
      await memory.remember(direct);
      expect(await memory.recall(key)).toEqual({ ...direct, created_at: expect.any(Number) });
      expect(await memory.forget(key)).toBe(true);
      expect(await memory.forget(key)).toBe(false);
      expect(await memory.recall(key)).toBeUndefined();
    });

    it.each([
      { workspace_type: "network" },
      { workspace_id: "2" },
      { user_id: 8 },
      { agent_id: "editor" },
      { tool_name: "posts/delete" },
    ])("does not apply a decision to somebody or something else: %j", async (other) => {
      await memory.remember(direct);
      expect(await memory.recall({ ...key, ...other })).toBeUndefined();
      expect(await memory.forget({ ...key, ...other })).toBe(false);
      expect(await memory.recall(key)).toMatchObject({ policy: "direct" });
    });

    it("lists what matches every field that is given, the latest first", async () => {
      await memory.remember(direct);
      await memory.remember({ ...direct, tool_name: "posts/delete", policy: "forbidden" });
      await memory.remember({ ...direct, user_id: 8, request_id: null, decided_by: null });
      const found = async (filter: Partial<typeof key>) =>
        (await memory.list(filter)).map(({ user_id, tool_name }) => `${user_id} ${tool_name}`);
      expect(await found({})).toEqual(["8 posts/publish", "7 posts/delete", "7 posts/publish"]);
      expect(await found({ user_id: 7 } as Partial<typeof key>)).toEqual(["7 posts/delete", "7 posts/publish"]);
      expect(await found({ user_id: 7, tool_name: "posts/publish" })).toEqual(["7 posts/publish"]);
      expect(await found({ workspace_id: "1", agent_id: "writer" })).toHaveLength(3);
    });

    it.each(losses)("remembers and forgets when a commit loses %s", async (loss) => {
      const driver = losingDriver(world.driver);
      const losing = (await world.storesOn(driver)).approvalMemory;
      driver.loseNext(loss);
      await losing.remember(direct);
      expect(await memory.recall(key)).toMatchObject({ policy: "direct" });
      driver.loseNext(loss);
      expect(await losing.forget(key)).toBe(true);
      expect(await memory.recall(key)).toBeUndefined();
    });
  });
}
