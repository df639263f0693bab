import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../src/contracts/error.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";

function shop() {
  const refund = { name: "shop/refund", description: "Refunds.", actionPolicy: "preview", execute: () => 1 } as const;
  return agent({
    slug: "shop",
    model: scriptedModel([callsTool("shop/refund"), says("Done.")]),
    tools: [tool(refund)],
  });
}

const token = { agent: "shop", owner_user_id: 7 };
const grant = { agent: "shop", user_id: 7 };
const action = { kind: "refund", summary: "Refund", preview: {}, apply_input: {}, created_at: "2026-11-16T11:00:00Z" };
const decision = { decision: "accepted", resolver: "user:7" };
const key = {
  ...{ workspace: { workspace_type: "site", workspace_id: "1" }, user_id: 7, agent_id: "shop" },
  tool_name: "shop/refund",
};

/** What can be called with whatever comes; those that may store something come with where it would be. */
type Verb = readonly [name: string, call: (value: never) => Promise<unknown>, table?: string];

function verbsOf({ tokens, grants, approvals }: Holdfast): readonly Verb[] {
  const { remembered } = approvals;
  const ada = principals.userSession(7, "home");
  const fields = (of: object, names: readonly string[], call: (given: never) => Promise<unknown>, table?: string) =>
    names.map((name): Verb => {
      const given = (value: never) => call({ ...of, [name]: value } as never);
      return table === undefined ? [name, given] : [name, given, table];
    });
  let stored = 0;
  const newAction = () => ({ ...action, action_id: `action ${++stored}` });
  const settled = { applied: true, resolver: "user:7" };
  const filters = [
    ...["status", "kind", "agent", "creator", "resolver", "workspace_type", "workspace_id", "limit", "offset"],
    ...["created_after", "created_before", "resolved_after", "resolved_before"],
  ];
  return [
    ["tokens.create", (value) => tokens.create(value), "tokens"],
    ...fields(
      token,
      [
        ...["agent", "owner_user_id", "label", "allowed_capabilities", "expires_at"],
        "client_id",
        "workspace_id",
        "metadata",
      ],
      tokens.create,
      "tokens",
    ),
    ["tokens.get", (value) => tokens.get(value)],
    ["tokens.list", (value) => tokens.list(value)],
    ["tokens.list options", (value) => tokens.list("shop", value)],
    ["tokens.revoke", (value) => tokens.revoke(value, "shop")],
    ["tokens.revoke agent", (value) => tokens.revoke(1, value)],
    ["tokens.revokeAll", (value) => tokens.revokeAll(value)],
    ["tokens.authenticate", (value) => tokens.authenticate(value)],
    ["tokens.authenticate request", (value) => tokens.authenticate("hf_nobody", value)],
    ["grants.grant", (value) => grants.grant(value)],
    ...fields(
      grant,
      [...["agent", "user_id", "audience_id", "role", "workspace_id"], "granted_by_user_id", "metadata"],
      grants.grant,
    ),
    ["grants.get agent", (value) => grants.get(value, { user_id: 7 })],
    ["grants.get holder", (value) => grants.get("shop", value)],
    ["grants.get user", (value) => grants.get("shop", { user_id: value })],
    ["grants.get audience", (value) => grants.get("shop", { audience_id: value })],
    ["grants.get workspace", (value) => grants.get("shop", { user_id: 7 }, value)],
    ["grants.revoke agent", (value) => grants.revoke(value, { user_id: 9 })],
    ["grants.revoke holder", (value) => grants.revoke("shop", value)],
    ["grants.revoke workspace", (value) => grants.revoke("shop", { user_id: 9 }, value)],
    ["grants.list", (value) => grants.list(value)],
    ["grants.list agent", (value) => grants.list({ agent: value })],
    ["grants.list user", (value) => grants.list({ user_id: value })],
    ["grants.list audience", (value) => grants.list({ audience_id: value })],
    ["grants.canAccess", (value) => grants.canAccess(value, "shop")],
    ["grants.canAccess agent", (value) => grants.canAccess(ada, value)],
    ["grants.canAccess role", (value) => grants.canAccess(ada, "shop", value)],
    ["grants.canAccess context", (value) => grants.canAccess(ada, "shop", "viewer", value)],
    ["grants.hasGrant", (value) => grants.hasGrant(value, "shop", "viewer")],
    ["grants.hasGrant agent", (value) => grants.hasGrant(ada, value, "viewer")],
    ["grants.accessibleAgents", (value) => grants.accessibleAgents(value)],
    ["grants.accessibleAgents role", (value) => grants.accessibleAgents(ada, value)],
    ["grants.accessibleAgents context", (value) => grants.accessibleAgents(ada, "viewer", value)],
    ...["audience_id", "workspace_id", "acting_user_id"].map(
      (field): Verb => [
        `grants.accessibleAgents ${field}`,
        (value) => grants.accessibleAgents(principals.fromArray({ ...ada, [field]: value })),
      ],
    ),
    ["approvals.store", (value) => approvals.store(value), "pending_actions"],
    ["approvals.store action_id", (action_id) => approvals.store({ ...newAction(), action_id } as never)],
    ...[
      ...["kind", "summary", "preview", "apply_input", "workspace", "agent", "creator", "status", "created_at"],
      ...["expires_at", "resolved_at", "resolver", "resolution_result", "metadata"],
    ].map(
      (field): Verb => [
        `approvals.store ${field}`,
        (value) => approvals.store({ ...newAction(), [field]: value } as never),
        "pending_actions",
      ],
    ),
    ["approvals.get", (value) => approvals.get(value)],
    ["approvals.list", (value) => approvals.list(value)],
    ["approvals.summary", (value) => approvals.summary(value)],
    ...fields({}, filters, approvals.list),
    ...fields({}, filters, approvals.summary),
    ["approvals.recordResolution", (value) => approvals.recordResolution(value, decision as never)],
    ["approvals.recordResolution what", (value) => approvals.recordResolution("waiting", value)],
    ["approvals.resolve", (value) => approvals.resolve(value, decision as never)],
    ["approvals.resolve what", (value) => approvals.resolve("waiting", value)],
    ...fields(decision, ["decision", "resolver", "payload", "context"], (given) => approvals.resolve("nobody", given)),
    ["approvals.expire", (value) => approvals.expire(value)],
    ["approvals.delete", (value) => approvals.delete(value)],
    ["approvals.settleClaimed", (value) => approvals.settleClaimed(value, settled)],
    ["approvals.settleClaimed what", (value) => approvals.settleClaimed("claimed", value)],
    ...fields(settled, ["applied", "resolver"], (given) => approvals.settleClaimed("claimed", given)),
    ...(["recall", "forget", "remember"] as const).flatMap((verb): readonly Verb[] => [
      [`remembered.${verb}`, (value) => remembered[verb](value, "direct")],
      ...fields(key, ["workspace", "user_id", "agent_id", "tool_name"], (given) => remembered[verb](given, "direct")),
      [
        `remembered.${verb} workspace_id`,
        (workspace_id) =>
          remembered[verb]({ ...key, workspace: { ...key.workspace, workspace_id } } as never, "direct"),
      ],
    ]),
    ["remembered.remember policy", (value) => remembered.remember(key, value)],
    ["remembered.list", (value) => remembered.list(value)],
    ...fields({}, ["workspace", "user_id", "agent_id", "tool_name"], remembered.list),
  ];
}

const throws = () => {
  throw new Error("Nobody reads me.");
};
const unreadable = new Proxy({}, { get: throws, ownKeys: throws, has: throws, getPrototypeOf: throws });
const circular: Record<string, unknown> = {};
circular.itself = circular;

const odd: readonly unknown[] = [
  ...[null, undefined, true, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 2 ** 40, 2 ** 53, 10n],
  ...["", " ", "a\0b", "\ud800", "x".repeat(5_000), "\u0001".repeat(900), "é".repeat(1_500), "Shop", "7"],
  ...[[], [1], {}, circular, Object.create(null), new Map([["a", 1]]), new Date(Number.NaN), new Date(0)],
  ...[
    () => 1,
    Symbol("s"),
    unreadable,
    { user_id: unreadable },
    { agent: "shop", owner_user_id: 7, metadata: circular },
  ],
];

/** What a verb answers, or undefined where it refuses; anything but an error of ours is thrown on. */
async function answerOf([name, call]: Verb, value: unknown): Promise<unknown> {
  try {
    return await call(value as never);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return undefined;
    throw new Error(`${name} let through: ${thrown}`, { cause: thrown });
  }
}

const rowsIn = async (world: World, table: string) => (await world.sql(`select * from ${table}`)).length;

async function open(world: World): Promise<Holdfast> {
  const holdfast = await world.open(shop());
  await holdfast.approvals.store({ ...action, action_id: "waiting" } as never);
  // A thread that waits too, because what is asked of the queue is asked of both.
  await (await holdfast.threads.open("t", { agent: "shop" })).send("Refund it.");
  return holdfast;
}

eachDatabase((newWorld, database) => {
  it("what tokens, grants and approvals cannot use is refused in words, and nothing of it is stored", async () => {
    const world = await newWorld();
    const holdfast = await open(world);
    const found: string[] = [];
    for (const verb of verbsOf(holdfast)) {
      const [name, , table] = verb;
      const before = table === undefined ? 0 : await rowsIn(world, table);
      let stored = 0;
      for (const [index, value] of odd.entries()) {
        const answer = await answerOf(verb, value).catch(({ message }: Error) => {
          found.push(`${message} (${index})`);
        });
        if (answer) stored++;
      }
      if (table !== undefined && (await rowsIn(world, table)) !== before + stored) {
        found.push(`${name} stored what it refused`);
      }
    }
    expect(found).toEqual([]);
    // The database is as well as it was.
    const { token: raw } = await holdfast.tokens.create(token);
    expect(await holdfast.tokens.authenticate(raw)).toMatchObject({ acting_user_id: 7 });
  });

  if (database === "sqlite") {
    it("so is anything at all", async () => {
      const holdfast = await open(await newWorld());
      const verbs = verbsOf(holdfast);
      const anything = fc.oneof(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withTypedArray: true }),
        fc.string({ unit: "binary" }),
        fc.constantFrom(...odd.filter((value) => value !== unreadable)),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...verbs), anything, async (verb, value) => {
          await answerOf(verb, value);
        }),
        { numRuns: 1_000 },
      );
    });
  }

  it("a mistake in an option's name makes no token and no grant", async () => {
    const world = await newWorld();
    const { tokens, grants } = await open(world);
    const misspelt = { ...token, allowedCapabilities: ["read"] };
    await expect(tokens.create(misspelt)).rejects.toThrow("invalid_wp_agent_token: there is no allowedCapabilities");
    const elsewhere = { ...grant, workspace: "shop" };
    await expect(grants.grant(elsewhere)).rejects.toThrow("invalid_wp_agent_access_grant: there is no workspace");
    expect([await rowsIn(world, "tokens"), await rowsIn(world, "grants")]).toEqual([0, 0]);
  });
});

describe("a token", () => {
  eachDatabase((newWorld) => {
    it("is for an agent as it is found: under its slug", async () => {
      const { tokens } = await open(await newWorld());
      for (const name of ["Shop", " shop", "my_shop", "-", ""]) {
        await expect(tokens.create({ ...token, agent: name })).rejects.toThrow("invalid_wp_agent_token: agent_id");
      }
      expect((await tokens.create({ ...token, agent: "my-shop" })).metadata.agent_id).toBe("my-shop");
    });
  });
});
