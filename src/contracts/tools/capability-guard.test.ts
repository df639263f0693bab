import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import * as toolCall from "./call.ts";
import { guardCapabilities } from "./capability-guard.ts";
import { normalizeForServer } from "./declaration.ts";
import type { ToolExecutor } from "./execution.ts";

const open = normalizeForServer({ name: "desk/erase", source: "desk", description: "Erases." });
const guarded = normalizeForServer({ ...open, required_capability: " erase_orders ", sensitive_parameters: ["pin"] });
const call = toolCall.normalize({ tool_name: "desk/erase", parameters: { order: 7, pin: "4711-planted" } });
const context = { principal: { acting_user_id: 5, token_id: 9 } };
const executor: ToolExecutor = () => "erased";

describe("a guarded executor", () => {
  it("runs what requires nothing as if nobody stood before it, without even waiting", () => {
    expect(guardCapabilities(executor, {})(call, open, {})).toBe("erased");
  });

  it("runs what the user holds the capability for, by its trimmed name", async () => {
    const holdsCapability = (user: number, capability: string) => user === 5 && capability === "erase_orders";
    expect(await guardCapabilities(executor, { holdsCapability })(call, guarded, context)).toBe("erased");
  });

  it("refuses everybody else, with the secrets of the call and the principal left out", async () => {
    const refused = (await guardCapabilities(executor, {})(call, guarded, context)) as JsonMap;
    expect(refused).toMatchObject({
      success: false,
      metadata: { error_type: "capability_denied", parameters: { order: 7, pin: "[redacted]" } },
    });
    expect(refused.metadata).not.toHaveProperty("ability_name");
    expect(JSON.stringify(refused)).not.toMatch(/4711-planted|token_id/);
  });

  it("hands on what the executor throws", async () => {
    const failing = guardCapabilities(() => Promise.reject(new Error("disk full")), { authorize: () => true });
    await expect(failing(call, guarded, context)).rejects.toThrow("disk full");
  });
});
