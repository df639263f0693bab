import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { migrate } from "../backend/sql/migrate.ts";
import { createTokenStore } from "../backend/sql/tokens.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { createTokens, type Tokens } from "./tokens.ts";

describe("tokens", () => {
  let driver: SqlDriver;
  let tokens: Tokens;
  let now: Date;

  beforeEach(async () => {
    driver = await sqlite(":memory:").open();
    onTestFinished(() => driver.close());
    await migrate(driver);
    now = new Date("2026-11-16T12:00:00Z");
    tokens = createTokens({ store: createTokenStore(driver), now: () => now.getTime() });
  });

  const create = (options: object = {}) =>
    tokens.create({ agent: "writer", owner_user_id: 7, label: "CI", ...options });

  it("are shown once: the database holds nothing that a token could be made from", async () => {
    const { token, metadata } = await create();
    expect(token).toMatch(/^hf_[\w-]{43}$/);
    expect(metadata).toMatchObject({ token_id: 1, agent_id: "writer", label: "CI", token_prefix: token.slice(0, 9) });
    const stored = JSON.stringify(await driver.all("select * from tokens"));
    expect(stored).not.toContain(token.slice(9));
    expect(JSON.stringify([metadata, await tokens.get(1), await tokens.list("writer")])).not.toMatch(/hash/);
  });

  it("let in whoever holds one, as what it says", async () => {
    const { token } = await create({ allowed_capabilities: ["read"], client_id: "ci", workspace_id: "w1" });
    expect(await tokens.authenticate(` ${token}\n`, { requestContext: "chat" })).toMatchObject({
      ...{ acting_user_id: 7, effective_agent_id: "writer", auth_source: "agent_token", token_id: 1 },
      ...{ request_context: "chat", workspace_id: "w1", client_id: "ci" },
      capability_ceiling: { user_id: 7, allowed_capabilities: ["read"] },
      request_metadata: { token_label: "CI", has_capability_restrictions: true },
    });
    for (const other of [`${token}x`, token.slice(3), "", null, { token }]) {
      expect(await tokens.authenticate(other)).toBeNull();
    }
  });

  it("let nobody in once they are revoked, and keep their number", async () => {
    const { token, metadata } = await create();
    await create();
    expect(await tokens.revoke(metadata.token_id, "writer")).toBe(true);
    expect(await tokens.authenticate(token)).toBeNull();
    expect(await tokens.list("writer")).toMatchObject([{ token_id: 2 }]);
    expect(await tokens.list("writer", { revoked: true })).toHaveLength(2);
    expect(await tokens.get(1)).toMatchObject({ label: "CI", revoked_at: expect.any(String) });
    expect(await tokens.revokeAll("writer")).toBe(1);
    expect(await tokens.list("writer")).toEqual([]);
  });

  it("let nobody in from the second on in which they expire", async () => {
    const { token } = await create({ expires_at: new Date("2026-11-16T12:01:00Z") });
    expect(await tokens.authenticate(token)).not.toBeNull();
    now = new Date("2026-11-16T12:01:00Z");
    expect(await tokens.authenticate(token)).toBeNull();
  });

  it("are at once what another process has made of them, which may be nothing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-tokens-"));
    const file = join(folder, "holdfast.db");
    const shared = await sqlite(file).open();
    onTestFinished(async () => {
      await shared.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await migrate(shared);
    const known = createTokens({ store: createTokenStore(shared), now: () => now.getTime() });
    const { token } = await known.create({ agent: "writer", owner_user_id: 7 });
    const elsewhere = async (sql: string) => {
      const program = "new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec(process.argv[2])";
      await promisify(execFile)(process.execPath, ["-e", program, file, sql]);
    };
    const mayDo = async () => (await known.authenticate(token))?.capability_ceiling?.allowed_capabilities;
    expect([await mayDo(), await mayDo()]).toEqual([null, null]);
    await elsewhere(`update tokens set allowed_capabilities = '["read"]'`);
    expect([await mayDo(), await mayDo()]).toEqual([["read"], ["read"]]);
    await elsewhere("update tokens set token_hash = null, revoked_at = 1");
    expect(await known.authenticate(token)).toBeNull();
  });

  it("tell one request from the next, though nothing else about who calls has changed", async () => {
    const { token } = await create();
    const [one, next] = [await tokens.authenticate(token), await tokens.authenticate(token)];
    expect({ ...next, caller_context: null }).toEqual({ ...one, caller_context: null });
    expect(next?.caller_context?.chain_root_request_id).not.toBe(one?.caller_context?.chain_root_request_id);
    const chat = await tokens.authenticate(token, { requestContext: "chat", metadata: { ip: "::1" } });
    expect(chat).toMatchObject({ request_context: "chat", request_metadata: { ip: "::1", token_label: "CI" } });
    expect(await tokens.authenticate(token)).toMatchObject({ request_context: "rest" });
    expect((await tokens.authenticate(token))?.request_metadata).not.toHaveProperty("ip");
  });

  it("are not made to expire at a time that nobody can read", async () => {
    await expect(create({ expires_at: "next week" })).rejects.toThrow("invalid_wp_agent_token: expires_at");
    await expect(create({ agent: " " })).rejects.toThrow("invalid_wp_agent_token: agent_id");
    expect(await driver.all("select * from tokens")).toEqual([]);
  });

  it("note when they were last used, once a minute at most", async () => {
    const { token } = await create();
    const usedAfter = async (seconds: number) => {
      now = new Date(Date.UTC(2026, 10, 16, 12, 0, seconds));
      await tokens.authenticate(token);
      return (await tokens.get(1))?.last_used_at;
    };
    expect((await tokens.get(1))?.last_used_at).toBeNull();
    expect(await usedAfter(0)).toBe("2026-11-16T12:00:00.000Z");
    expect(await usedAfter(60)).toBe("2026-11-16T12:00:00.000Z");
    expect(await usedAfter(61)).toBe("2026-11-16T12:01:01.000Z");
  });

  it("write nothing for a use that was noted just now, and let in when it cannot be noted", async () => {
    const { token } = await create();
    let writes = 0;
    const failing: SqlDriver = {
      ...driver,
      batch() {
        writes++;
        throw new Error("The disk is full.");
      },
    };
    const reading = createTokens({ store: createTokenStore(failing), now: () => now.getTime() });
    expect(await reading.authenticate(token)).toMatchObject({ token_id: 1 });
    expect(writes).toBe(1);
    await tokens.authenticate(token);
    expect(await reading.authenticate(token)).toMatchObject({ token_id: 1 });
    expect(writes).toBe(1);
  });

  it("are not touched by a request that is turned away", async () => {
    const { token } = await create();
    const headers = { "X-Agents-Api-Chain-Depth": "many" };
    expect(await tokens.authenticate(token, { headers })).toBeNull();
    expect((await tokens.get(1))?.last_used_at).toBeNull();
  });
});
