import { describe, expect, it } from "vitest";
import { materialized, withConfig, withMeta } from "./identity.ts";

describe("an identity", () => {
  const given = { id: 3, scope: { agent_slug: "My Agent" }, config: { model: "m", deep: { a: 1 } }, created_at: 10 };

  it("has a number, a scope and what was configured", () => {
    expect(materialized(given)).toEqual({
      ...{ id: 3, agent_slug: "my-agent", owner_user_id: 0, instance_key: "default" },
      ...{ config: given.config, meta: {}, created_at: 10, updated_at: null },
    });
  });

  it.each([0, -1, "x", null, 1.5])("cannot have the number %j", (id) => {
    expect(() => materialized({ ...given, id })).toThrow("invalid_agent_identity: id must be");
  });

  it("is another one when something in it changes", () => {
    const identity = materialized(given);
    expect(withConfig(identity, { other: 1 })).toEqual({ ...identity, config: { other: 1 } });
    expect(withMeta(identity, { note: 1 })).toEqual({ ...identity, meta: { note: 1 } });
    expect(identity).toMatchObject({ config: given.config, meta: {} });
    expect(Object.isFrozen(identity)).toBe(true);
  });
});
