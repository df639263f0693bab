// Promise: whatever a program passes to the memories and guidelines of a runtime, it is done, or refused with a code and
// nothing is written.
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Holdfast, HoldfastError, memoryScope, principal } from "../src/index.ts";
import { eachDatabase, type World } from "./databases.ts";
import { clerk } from "./memory-clerk.ts";

const refusesText = {
  toString() {
    throw new Error("no text");
  },
};

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[undefined, null, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, "", " ", "x", "a\0b", "\ud800"],
    ...[[], {}, () => 1, Symbol("s"), 10n, "x".repeat(5_000), new Date(), refusesText],
    ...[["x", null], [Symbol("s")], { workspace_type: "site" }, { workspace_type: "site", workspace_id: "a\0" }],
  ),
  fc.string({ unit: "binary" }),
  fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withObjectString: true }),
);

const scope = memoryScope("user", "f", { user_id: 7 });
const ana = principal.fromArray({
  ...{ acting_user_id: 7, effective_agent_id: "clerk", auth_source: "user", request_context: "chat" },
});
const own = { workspace_id: "w", scope: "private_user_workspace_memory", title: "t", content: "c" } as const;

const metadataFields = ["source_type", "source_ref", "created_by_user_id", "workspace", "confidence", "updated_at"];
const scopeFields = ["layer", "workspace_type", "workspace_id", "user_id", "agent_id", "filename"];
const listFields = ["workspace_id", "scope", "type", "status", "after", "limit"];
const verbs = ["read", "exists", "delete", "listLayer", "retrieve"] as const;

type Call = (bad: never) => unknown;

/** Every way to hand something wrong in, by name. */
function callsOf({ memories, guidelines }: Holdfast, made: { readonly id: string }): Readonly<Record<string, Call>> {
  if (!guidelines) throw new Error("There are no guidelines.");
  return {
    ...Object.fromEntries(
      verbs.map((verb) => [`${verb}(scope)`, (bad) => memories[verb](bad)] satisfies [string, Call]),
    ),
    "read(fields)": (bad) => memories.read(scope, bad),
    "write(scope)": (bad) => memories.write(bad, "x"),
    "write(content)": (bad) => memories.write(scope, bad),
    "write(options)": (bad) => memories.write(scope, "x", bad),
    "write(ifMatch)": (bad) => memories.write(scope, "x", { ifMatch: bad }),
    "write(metadata)": (bad) => memories.write(scope, "x", { metadata: bad }),
    "write(consent)": (bad) => memories.write(scope, "x", { consent: bad }),
    ...each("write(metadata)", metadataFields, (field, bad) =>
      memories.write(scope, "x", { metadata: { [field]: bad } }),
    ),
    ...each("write(scope)", scopeFields, (field, bad) => memories.write({ ...scope, [field]: bad }, "x")),
    "listLayer(query)": (bad) => memories.listLayer(scope, bad),
    "listSubtree(scope)": (bad) => memories.listSubtree(bad, "x"),
    "listSubtree(prefix)": (bad) => memories.listSubtree(scope, bad),
    "search(scope)": (bad) => memories.search(bad, "x"),
    "search(words)": (bad) => memories.search(scope, bad),
    "search(query)": (bad) => memories.search(scope, "x", bad),
    "search(options)": (bad) => memories.search(scope, "x", {}, bad),
    "search(limit)": (bad) => memories.search(scope, "x", {}, { limit: bad }),
    "retrieve(limit)": (bad) => memories.retrieve(scope, {}, { limit: bad }),
    "retrieve(query)": (bad) => memories.retrieve(scope, { order_by: bad, source_types: bad, validators: [bad] }),
    "forgetAll(of)": (bad) => memories.forgetAll(bad),
    ...each("forgetAll", ["user_id", "agent_id", "workspace"], (field, bad) => memories.forgetAll({ [field]: bad })),
    "forgetAll(private of)": (bad) => guidelines.forgetAll(bad),
    ...each("forgetAll", ["user_id", "workspace_id"], (field, bad) =>
      guidelines.forgetAll({ user_id: 9, [field]: bad }),
    ),
    "create(principal)": (bad) => guidelines.create(bad, own),
    "create(input)": (bad) => guidelines.create(ana, bad),
    ...each("create", ["workspace_id", "scope", "title", "content", "type", "status"], (field, bad) =>
      guidelines.create(ana, { ...own, [field]: bad }),
    ),
    "get(principal)": (bad) => guidelines.get(bad, made.id),
    "get(id)": (bad) => guidelines.get(ana, bad),
    "list(list)": (bad) => guidelines.list(ana, bad),
    "count(list)": (bad) => guidelines.count(ana, bad),
    ...each("list", listFields, (field, bad) => guidelines.list(ana, { workspace_id: "w", [field]: bad })),
    "list(after.created_at)": (bad) => guidelines.list(ana, { workspace_id: "w", after: { created_at: bad, id: "x" } }),
    "list(after.id)": (bad) => guidelines.list(ana, { workspace_id: "w", after: { created_at: 1, id: bad } }),
    "update(id)": (bad) => guidelines.update(ana, bad, 1, {}),
    "update(version)": (bad) => guidelines.update(ana, made.id, bad, {}),
    "update(change)": (bad) => guidelines.update(ana, made.id, 1, bad),
    "update(content)": (bad) => guidelines.update(ana, made.id, 1, { content: bad }),
    "delete(version)": (bad) => guidelines.delete(ana, made.id, bad),
    "promote(version)": (bad) => guidelines.promote(ana, made.id, bad),
  };
}

/** The same call with each of some fields. */
function each(
  verb: string,
  fields: readonly string[],
  call: (field: string, bad: never) => unknown,
): Record<string, Call> {
  return Object.fromEntries(fields.map((field) => [`${verb} ${field}`, (bad) => call(field, bad)]));
}

async function everything({ sql }: World): Promise<string> {
  const memories = await sql("select * from memories order by id");
  return JSON.stringify([memories, await sql("select * from guidelines order by id")]);
}

eachDatabase((newWorld, database) => {
  // A look from outside at all rows costs a connection each time on PostgreSQL.
  const look = async (world: World) => (database === "sqlite" ? await everything(world) : "");

  it("refuses what is wrong with a code, and writes nothing of it", async () => {
    const world = await newWorld();
    const holdfast = await world.open(clerk().agent, { trust: { holdsCapability: () => true } });
    const made = await holdfast.guidelines?.create(ana, own);
    await holdfast.memories.write(scope, "before");
    const named = Object.entries(callsOf(holdfast, made ?? { id: "" }));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...named), junk, async ([, call], bad) => {
        const before = await look(world);
        const thrown = await (async () => await call(bad as never))().then(
          () => undefined,
          (error: unknown) => error,
        );
        if (thrown === undefined) return;
        expect(thrown).toBeInstanceOf(HoldfastError);
        expect(await look(world)).toBe(before);
      }),
      { numRuns: 600 },
    );
  });
});
