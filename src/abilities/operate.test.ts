import { describe, expect, it } from "vitest";
import { admin, openShop, person } from "../../test/shop-desk.ts";
import { capabilities } from "./capabilities.ts";

const HOUR = 3_600_000;

/** User 3 looks after the machine and nothing else. */
const trust = {
  administrators: [1],
  holdsCapability: (user: number, name: string) => user === 3 && name === "operate",
};

describe("whoever only operates", () => {
  it("deletes nothing that is everybody's", async () => {
    const { call } = await openShop({ trust });
    for (const [name, input] of [
      ["prune-threads", { idle_ms: HOUR }],
      ["prune-threads", { idle_ms: HOUR, dry_run: true }],
      ["prune-files", {}],
      ["prune-workflow-runs", { idle_ms: HOUR }],
    ] as const) {
      expect(await call(person(3), `holdfast/${name}`, input)).toMatchObject({ code: "ability_forbidden" });
      expect(await call(person(1, { workspace_id: "w" }), `holdfast/${name}`, input)).toMatchObject({
        code: "ability_forbidden",
      });
      expect(await call(admin, `holdfast/${name}`, input)).not.toHaveProperty("code");
    }
    expect(await call(person(3), "holdfast/metrics")).not.toHaveProperty("code");
  });

  it("deletes no thread that was used within the hour", async () => {
    const { call, wish } = await openShop({ trust });
    await wish("refund", person(7));
    for (const idle_ms of [0, HOUR - 1]) {
      expect(await call(admin, "holdfast/prune-threads", { idle_ms })).toMatchObject({ code: "invalid_input" });
    }
    expect(await call(admin, "holdfast/prune-threads", { idle_ms: HOUR })).toEqual({ deleted: [] });
  });

  it("is told what that lets", () => {
    expect(capabilities.operate.lets).toMatch(/what calls of unknown outcome did.*with threads\.manage, delete/);
    expect(capabilities["audit.read"].lets).toMatch(/everything that was said/);
  });
});
