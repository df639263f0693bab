import { randomBytes } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { createApprovalMemoryStore, rememberStatement } from "../backend/sql/approval-memory.ts";
import { migrate } from "../backend/sql/migrate.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import type { ApprovalKey } from "../contracts/trust/approval-memory.ts";
import { createSealing } from "../threads/secrets/sealing.ts";
import { createApprovalMemory } from "./approval-memory.ts";
import { withMac } from "./remembered-mac.ts";

const workspace = { workspace_type: "site", workspace_id: "1" };
const key: ApprovalKey = { workspace, user_id: 7, agent_id: "writer", tool_name: "posts/publish" };

const { workspace: _, ...unscoped } = key;
const decision = {
  ...workspace,
  ...unscoped,
  ...({ policy: "forbidden", policy_version: "policy-1", request_id: "request 1" } as const),
  decided_by: JSON.stringify({ acting_user_id: 9 }),
};

const { bind } = createSealing(randomBytes(32));

async function newMemory() {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  await migrate(driver);
  return { driver, memory: createApprovalMemory(createApprovalMemoryStore(driver), bind) };
}

it("recalls a decision for those it was made for, until it is forgotten", async () => {
  const { memory } = await newMemory();
  await memory.remember(key, "direct");
  expect(await memory.recall(key)).toBe("direct");
  expect(await memory.recall({ ...key, user_id: 8 })).toBeNull();
  expect(await memory.forget(key)).toBe(true);
  expect(await memory.forget(key)).toBe(false);
  expect(await memory.recall(key)).toBeNull();
});

it("lists decisions with who made them, also those that were remembered together with an answer", async () => {
  const { driver, memory } = await newMemory();
  await driver.batch([rememberStatement(withMac(bind, decision))]);
  const remembered = {
    ...key,
    policy: "forbidden",
    policy_version: "policy-1",
    request_id: "request 1",
    decided_by: { acting_user_id: 9 },
  };
  expect(await memory.list({ workspace, user_id: 7 })).toEqual([{ ...remembered, created_at: expect.any(String) }]);
  expect(await memory.list({ workspace: { ...workspace, workspace_id: "2" } })).toEqual([]);
  expect(await memory.list()).toHaveLength(1);
});

it.each([
  "policy = 'direct'",
  "policy_version = null",
  "request_id = 'request 2'",
  "decided_by = null",
  "user_id = 8",
  "tool_name = 'posts/erase'",
  "mac = ''",
])("goes by nothing that was written past it: %s", async (change) => {
  const { driver, memory } = await newMemory();
  await driver.batch([rememberStatement(withMac(bind, decision))]);
  expect(await memory.recall(key)).toBe("forbidden");
  await driver.batch([{ sql: `update approval_memory set ${change}`, params: [] }]);
  for (const named of [key, { ...key, user_id: 8 }, { ...key, tool_name: "posts/erase" }]) {
    expect(await memory.recall(named)).toBeNull();
  }
  expect(await memory.list()).toEqual([]);
});
