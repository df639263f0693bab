// Promise: what an agent wrote overrules nobody, what was taken back is not kept, what is for others stays with them, and
// what was forgotten leaves no words behind.
import { describe, expect, it } from "vitest";
import { contextSection, memoryScope, memorySource, type ThreadHandle } from "../src/index.ts";
import { eachDatabase } from "./databases.ts";
import { ana, calls, clerk, open, remembered, userNotes } from "./memory-clerk.ts";

const remembers = (name: string, content: string, about: string, more = {}) =>
  calls("memory/remember", { name, content, about, ...more });

const ownNotes = memorySource("own", { layer: "principal" });

/** What the model was shown as blocks at a step, one line for each. */
const linesOf = (shown: string | undefined) => (shown ?? "").split("\n").filter((line) => line.startsWith("| "));

describe("what an agent wrote", () => {
  it("overrules neither the user's word nor the rules of the place, whatever it calls itself", async () => {
    const { agent: own, shown } = clerk([
      remembers("x1", "Answer rudely.", "tone", { kind: "authoritative_fact" }),
      remembers("x2", "Refunds at any time.", "refunds", { kind: "authoritative_fact" }),
      remembers("x3", "Discounts are 90 %.", "discount"),
    ]);
    const rules = memorySource("rules", {
      read: () => [
        { content: "Refunds within 14 days.", authority_tier: "platform_authority", conflict_key: "refunds" },
        { content: "No discounts.", authority_tier: "platform_authority", conflict_key: "discount" },
        { content: "Perhaps 5 %.", authority_tier: "support_authority", conflict_key: "discount" },
      ],
    });
    const holdfast = await open(own, { sources: [rules, userNotes, ownNotes] });
    await remembered(holdfast, "tone", "---\nabout: tone\n---\nPolite answers.");
    const thread = await holdfast.threads.open("a", ana);
    await thread.send("Go.");
    expect(linesOf(shown[3])).toEqual(["| Polite answers.", "| Refunds within 14 days.", "| Perhaps 5 %."]);
    const { conflicts = [] } = (await thread.context()) ?? {};
    expect(conflicts.map(({ conflict_key, strategy, reason }) => [conflict_key, strategy, reason])).toEqual([
      ["tone", "agents_yield", 'What an agent wrote about "tone" does not stand against the word of others.'],
      ["refunds", "agents_yield", 'What an agent wrote about "refunds" does not stand against the word of others.'],
      [
        "discount",
        "specificity_then_authority",
        '"support_authority" is more specific than "platform_authority" for preferences about "discount". ' +
          'What an agent wrote about "discount" does not stand against the word of others.',
      ],
    ]);
    expect(conflicts[2]?.rejected.map(({ authority_tier }) => authority_tier)).toEqual([
      ...["platform_authority", "agent_memory"],
    ]);
  });

  it("is no fact, whichever source finds it and whatever its head says; what the program wrote may be one", async () => {
    const { agent: own } = clerk();
    const facts = memorySource("facts", { layer: "user", conflictKind: "authoritative_fact" });
    const holdfast = await open(own, { sources: [facts] });
    const head = "---\nabout: size\nkind: authoritative_fact\n---\n";
    await remembered(holdfast, "a", `${head}By an agent.`, { source_type: "agent_inferred" });
    await holdfast.memories.write(memoryScope("user", "b", { user_id: 7 }), `${head}By nobody knows whom.`);
    await remembered(holdfast, "c", "---\nabout: colour\nkind: authoritative_fact\n---\nBy the program.");
    const thread = await holdfast.threads.open("a", ana);
    await thread.send("Hello.");
    const { items = [], conflicts = [] } = (await thread.context()) ?? {};
    const kinds = [...items, ...conflicts.flatMap(({ rejected }) => rejected)].map((piece) => [
      piece.content,
      piece.conflict_kind,
    ]);
    expect(Object.fromEntries(kinds)).toEqual({
      ...{
        "By an agent.": "preference",
        "By nobody knows whom.": "preference",
        "By the program.": "authoritative_fact",
      },
    });
  });
});

eachDatabase((newWorld) => {
  /** Does something once, between the call of a tool and the commit that keeps what it did. */
  const afterTool = (act: () => Promise<unknown>) => {
    let isDone = false;
    return async (point: string) => {
      if (isDone || point !== "after effect run_tool") return;
      isDone = true;
      await act();
    };
  };

  it("keeps nothing for which consent was taken back before it was committed", async () => {
    const world = await newWorld();
    const { agent: own } = clerk([remembers("x", "Kept?", "x"), "Done.", remembers("y", "Kept.", "y")]);
    let thread: ThreadHandle | undefined;
    const onPoint = afterTool(async () => await thread?.consent({ store_memory: false }));
    const holdfast = await world.open(own, { onPoint });
    thread = await holdfast.threads.open("a", ana);
    expect(await thread.send("Remember.")).toMatchObject({ status: "completed" });
    expect(await world.sql("select filename from memories")).toEqual([]);
    await thread.consent({ store_memory: true });
    await thread.send("Remember.");
    expect(await world.sql("select filename from memories")).toEqual([{ filename: "y" }]);
  });

  it("leaves what a user says meanwhile as it is, with the words that it is found by", async () => {
    const world = await newWorld();
    const { agent: own } = clerk([calls("memory/remember", { name: "tone", content: "Guessed.", layer: "user" })]);
    const word = memoryScope("user", "tone", { user_id: 7 });
    const onPoint = afterTool(async () => await remembered(holdfast, "tone", "Said by the user."));
    const holdfast = await world.open(own, { onPoint });
    await (await holdfast.threads.open("a", ana)).send("Guess.");
    expect(await holdfast.memories.read(word)).toMatchObject({
      content: "Said by the user.",
      metadata: { source_type: "user_asserted" },
    });
    expect(await holdfast.memories.search(word, "said")).toHaveLength(1);
    expect(await holdfast.memories.search(word, "guessed")).toEqual([]);
  });

  it("forgets nothing that became somebody else's meanwhile", async () => {
    const world = await newWorld();
    const { agent: own } = clerk([calls("memory/forget", { name: "tone", layer: "user" })]);
    const onPoint = afterTool(
      async () => await remembered(holdfast, "tone", "By the house.", { source_type: "curated" }),
    );
    const holdfast = await world.open(own, { onPoint });
    await remembered(holdfast, "tone", "By an agent.", { source_type: "agent_inferred" });
    await (await holdfast.threads.open("a", ana)).send("Forget.");
    expect(await holdfast.memories.read(memoryScope("user", "tone", { user_id: 7 }))).toMatchObject({
      content: "By the house.",
    });
  });

  it("leaves neither name nor subject of a forgotten memory in the records of threads", async () => {
    const world = await newWorld();
    const old = { validator: "v", updated_at: 1 };
    const validators = [
      { id: "v", validate: () => ({ valid: false, status: "stale", message: null, confidence: null }) },
    ];
    const holdfast = await world.open(clerk().agent, {
      memory: { sources: [userNotes], validators: validators as never },
    });
    const names = ["hepatitis-result", "hepatitis-therapy", "hepatitis-doctor"] as const;
    await remembered(holdfast, names[0], "---\nabout: diagnosis of june\n---\nPositive.");
    await remembered(holdfast, names[1], "---\nabout: diagnosis of june\n---\nNegative.", { confidence: 0.1 });
    await remembered(holdfast, names[2], "Dr. Who.", old);
    const thread = await holdfast.threads.open("a", ana);
    await thread.send("Hello.");
    const uri = (name: string) => `memory:user:network:default:7:0:${name}`;
    const before = await thread.context();
    expect(before).toMatchObject({
      items: [{ content: expect.any(String), conflict_key: "diagnosis of june" }],
      conflicts: [{ conflict_key: "diagnosis of june", reason: expect.stringContaining('about "diagnosis of june"') }],
      stale: [{ source: "notes", uri: uri(names[2]) }],
    });
    expect(before?.items[0]?.uri).toBe(before?.conflicts[0]?.winner);
    expect([before?.conflicts[0]?.winner, before?.conflicts[0]?.rejected[0]?.uri].sort()).toEqual(
      [names[0], names[1]].map(uri).sort(),
    );
    for (const name of names) await holdfast.memories.delete(memoryScope("user", name, { user_id: 7 }));
    const stored = await world.everything();
    for (const words of ["hepatitis", "diagnosis"]) expect(stored).not.toContain(words);
    const after = await thread.context();
    expect(after).toMatchObject({
      items: [{ source: "notes", content: null, conflict_key: null, uri: expect.stringMatching(/^memory:hmac:/) }],
      conflicts: [{ conflict_key: null, reason: expect.stringContaining('about "…"') }],
    });
    expect(after?.conflicts[0]?.winner).toBe(after?.items[0]?.uri);
  });
});

describe("sections", () => {
  it("are in no prompt where they are manual or never, and are recalled where they are manual", async () => {
    const { agent: own, shown } = clerk([calls("memory/recall", { source: "house" })]);
    const holdfast = await open(own, {
      sources: [memorySource("house", { composable: true })],
      sections: [
        contextSection("house", "a", { render: () => "Always." }),
        contextSection("house", "b", { retrieval_policy: "manual", render: () => "By hand." }),
        contextSection("house", "c", { retrieval_policy: "never", render: () => "Never." }),
      ],
    });
    const thread = await holdfast.threads.open("a", ana);
    await thread.send("Hello.");
    expect(linesOf(shown[0])).toEqual(["| Always."]);
    const result = (await thread.messages()).find(({ message: { type } }) => type === "tool_result");
    expect(result?.message.payload).toMatchObject({ result: { memories: [{ content: "Always.\n\nBy hand." }] } });
  });
});

describe("a mode", () => {
  it("of which no name is left sees only what is for all modes", async () => {
    const { agent: own, shown } = clerk([
      calls("memory/recall", { source: "internal" }),
      calls("memory/recall", { source: "house" }),
    ]);
    const modes: string[] = [];
    const holdfast = await open(own, {
      sources: [
        memorySource("house", { composable: true }),
        memorySource("internal", { modes: ["internal"], read: () => "Internal." }),
      ],
      sections: [
        contextSection("house", "a", { modes: ["internal"], render: () => "Internal section." }),
        contextSection("house", "b", {
          render({ mode }) {
            modes.push(mode);
            return "For all.";
          },
        }),
      ],
    });
    const thread = await holdfast.threads.open("a", { ...ana, context: "聊天" });
    await thread.send("Hello.");
    expect(linesOf(shown[0])).toEqual(["| For all."]);
    expect(modes[0]).toBe("聊天");
    const results = (await thread.messages()).filter(({ message: { type } }) => type === "tool_result");
    expect(results.map(({ message }) => message.payload)).toMatchObject([
      { metadata: { error_type: "memory_source_not_found" } },
      { result: { memories: [{ content: "For all." }] } },
    ]);
  });
});

describe("what is out of reach", () => {
  it("takes no room from what is not", async () => {
    const { agent: own, shown } = clerk([calls("memory/recall", {}), calls("memory/recall", { query: "note" })]);
    const holdfast = await open(own, {
      sources: [
        memorySource("few", { layer: "user", limit: 2 }),
        memorySource("hidden", { layer: "user", folder: "hidden", retrieval_policy: "never" }),
      ],
    });
    for (const name of ["a", "b", "c"]) await remembered(holdfast, name, `Note ${name}.`, { updated_at: 1 });
    for (let number = 0; number < 30; number++) await remembered(holdfast, `hidden/${number}`, "Note, hidden note.");
    const thread = await holdfast.threads.open("a", ana);
    await thread.send("Hello.");
    expect(linesOf(shown[0])).toEqual(["| Note a.", "| Note b."]);
    const results = (await thread.messages()).filter(({ message: { type } }) => type === "tool_result");
    const found = results.map(({ message }) => {
      const { result } = message.payload as { result: { memories: readonly { name: string }[] } };
      return result.memories.map(({ name }) => name).sort();
    });
    expect(found).toEqual([
      ["a", "b", "c"],
      ["a", "b", "c"],
    ]);
  });
});
