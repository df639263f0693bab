// What a database promises about memories, as tests.
import { describe, expect, it } from "vitest";
import type { MemoryMetadata } from "../contracts/memory/memory-metadata.ts";
import { apply, type MemoryQuery } from "../contracts/memory/memory-query.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { MemoryEntry } from "../contracts/memory/memory-store.ts";
import { aCommit } from "./contract/a-commit.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import { heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { KeptMemories } from "./memory-store.ts";
import type { StoredSubject } from "./subject-store.ts";
import type { Write } from "./write.ts";

const HOME = { layer: "user", workspace_type: "site", workspace_id: "1", user_id: 7, agent_id: 11, filename: "" };

const at = (filename: string, parts: Partial<MemoryScope> = {}): MemoryScope => ({ ...HOME, ...parts, filename });

const names = (entries: readonly { readonly filename: string }[]) => entries.map(({ filename }) => filename);

const SHA1_OF_HELLO = "35b5ea45c5e41f78b46a937cc74d41dfea920890";

const ALLOWED = { allowed: true, operation: "store_memory", reason: "explicit_consent", audit_metadata: {} } as const;

/** Each with the content of its own name. */
async function keepAll(memories: KeptMemories, all: Readonly<Record<string, MemoryMetadata | undefined>>) {
  for (const [filename, metadata] of Object.entries(all)) {
    await memories.write(at(filename), filename, metadata && { metadata });
  }
}

export function describeMemoryStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`memories on ${name}`, () => {
    const openMemories = async () => (await open()).stores.memories;

    describe("reading and writing", () => {
      it("gives back what was written, with its hash, its bytes and the defaults of its source", async () => {
        const memories = await openMemories();
        const metadata = { source_type: "user_asserted", created_at: 5, updated_at: 6 };
        const known = { ...metadata, confidence: 0.9, authority_tier: "high" };
        const written = await memories.write(at("MEMORY.md"), "héllo", { metadata });
        expect(written).toEqual({
          success: true,
          hash: SHA1_OF_HELLO,
          bytes: 6,
          error: null,
          metadata: known,
          unsupported_metadata_fields: [],
        });
        expect(await memories.read(at("MEMORY.md"))).toEqual({
          exists: true,
          content: "héllo",
          hash: SHA1_OF_HELLO,
          bytes: 6,
          updated_at: 6,
          metadata: known,
          unsupported_metadata_fields: [],
        });
      });

      it("keeps every field of the metadata, and tells those that are asked for", async () => {
        const memories = await openMemories();
        const metadata: MemoryMetadata = {
          source_type: "imported",
          source_ref: "https://example.org/a?b=c",
          created_by_user_id: 0,
          created_by_agent_id: 12,
          workspace: { workspace_type: "repo", workspace_id: "holdfast" },
          confidence: 0,
          validator: "repo_state",
          authority_tier: "",
          created_at: 0,
          updated_at: 1_900_000_000,
        };
        await memories.write(at("a"), "x", { metadata });
        expect((await memories.read(at("a"))).metadata).toEqual(metadata);
        const some = await memories.read(at("a"), ["confidence", "workspace", "mood" as never]);
        expect(some.metadata).toEqual({ workspace: metadata.workspace, confidence: 0 });
        expect(some.unsupported_metadata_fields).toEqual(["mood"]);
      });

      it("takes the time of the database where a writer gives none, and says nothing where nothing is said", async () => {
        const memories = await openMemories();
        const { metadata } = await memories.write(at("a"), "x", { metadata: {} });
        expect(metadata).toMatchObject({ source_type: "agent_inferred", confidence: 0.5, authority_tier: "low" });
        expect(metadata?.created_at).toBeGreaterThan(1_700_000_000);
        expect(metadata?.updated_at).toBe(metadata?.created_at);
        await memories.write(at("b"), "x");
        expect(await memories.read(at("b"))).toMatchObject({ exists: true, metadata: null, updated_at: null });
      });

      it("knows nothing of what was never written, and deletes it all the same", async () => {
        const memories = await openMemories();
        expect(await memories.read(at("a"))).toEqual({
          exists: false,
          content: "",
          hash: "",
          bytes: 0,
          updated_at: null,
          metadata: null,
          unsupported_metadata_fields: [],
        });
        expect(await memories.delete(at("a"))).toMatchObject({ success: true, hash: "", bytes: 0, error: null });
      });

      it("forgets what is deleted: its text, and the words that it was found by", async () => {
        const memories = await openMemories();
        await memories.write(at("a"), "Likes green tea.");
        expect(await memories.exists(at("a"))).toBe(true);
        expect(await memories.delete(at("a"))).toMatchObject({ success: true });
        expect(await memories.exists(at("a"))).toBe(false);
        expect(await memories.search(HOME, "tea")).toEqual([]);
      });

      it("tells scopes apart by each of their parts, also where their keys are alike", async () => {
        const memories = await openMemories();
        const scopes = [
          at("a"),
          at("a", { layer: "agent" }),
          at("a", { workspace_type: "repo" }),
          at("a", { workspace_id: "2" }),
          at("a", { user_id: 8 }),
          at("a", { agent_id: 12 }),
          at("c", { layer: "b", workspace_id: "x:1" }),
          at("c", { layer: "b", workspace_id: "x", user_id: 1, agent_id: 7 }),
        ];
        for (const [index, scope] of scopes.entries()) await memories.write(scope, `text ${index}`);
        const contents = await Promise.all(scopes.map(async (scope) => (await memories.read(scope)).content));
        expect(contents).toEqual(scopes.map((_, index) => `text ${index}`));
        for (const [index, scope] of scopes.entries()) {
          expect((await memories.search(scope, "text")).map(({ content }) => content)).toEqual([`text ${index}`]);
          expect(await memories.listLayer(scope)).toHaveLength(1);
        }
      });

      it("keeps large and odd texts, and what a database cannot hold in none of them", async () => {
        const memories = await openMemories();
        const large = "Ein großer Text. 🎈 ".repeat(100_000);
        await memories.write(at("large"), large);
        expect((await memories.read(at("large"))).content).toBe(large);
        const odd = await memories.write(at("odd"), "a\0b\ud800c", { metadata: { source_ref: "x\0y" } });
        const read = await memories.read(at("odd"));
        expect(read).toMatchObject({ content: "ab\ufffdc", hash: odd.hash, metadata: { source_ref: "xy" } });
      });

      it("refuses names that no index could hold", async () => {
        const memories = await openMemories();
        await expect(memories.write(at("a".repeat(1_001)), "x")).rejects.toMatchObject({ code: "invalid_argument" });
        await memories.write(at("ä".repeat(500)), "x", { metadata: { validator: "v".repeat(1_000) } });
        expect(await memories.exists(at("ä".repeat(500)))).toBe(true);
      });

      it.each(["\0", "\ud800", "\udfff"])("takes no name that it could not keep as it is (%j)", async (odd) => {
        const memories = await openMemories();
        await memories.write(at("a"), "x");
        const refused = { code: "invalid_argument" };
        for (const parts of [{ filename: `a${odd}` }, { workspace_id: `1${odd}` }, { layer: `user${odd}` }]) {
          const scope = { ...at("a"), ...parts };
          await expect(memories.write(scope, "y")).rejects.toMatchObject(refused);
          await expect(memories.read(scope)).rejects.toMatchObject(refused);
          await expect(memories.exists(scope)).rejects.toMatchObject(refused);
          await expect(memories.delete(scope)).rejects.toMatchObject(refused);
          await expect(memories.search(scope, "x")).rejects.toMatchObject(refused);
          await expect(memories.listLayer(scope)).rejects.toMatchObject(refused);
        }
        await expect(memories.listSubtree(HOME, `a${odd}b`)).rejects.toMatchObject(refused);
        const workspace = { workspace_type: "site", workspace_id: `1${odd}` };
        await expect(memories.forgetAll({ workspace })).rejects.toMatchObject(refused);
        expect(await memories.read(at("a"))).toMatchObject({ content: "x" });
      });

      it("stores the decision that allowed a memory beside it", async () => {
        const { stores, driver } = await open();
        await stores.memories.write(at("a"), "x", { consent: ALLOWED });
        const [row] = await driver.all("select consent from memories");
        expect(JSON.parse(String(row?.consent))).toEqual(ALLOWED);
      });
    });

    describe("compare and swap", () => {
      it("replaces the content that was read, and nothing else", async () => {
        const memories = await openMemories();
        const { hash } = await memories.write(at("a"), "first", { metadata: { source_type: "curated" } });
        const wrong = await memories.write(at("a"), "second", { ifMatch: "0".repeat(40) });
        expect(wrong).toMatchObject({ success: false, hash: "", bytes: 0, error: "conflict", metadata: null });
        expect((await memories.read(at("a"))).content).toBe("first");
        expect(await memories.write(at("a"), "second", { ifMatch: hash })).toMatchObject({
          success: true,
          error: null,
        });
        expect(await memories.read(at("a"))).toMatchObject({ content: "second", metadata: null });
        expect(names(await memories.search(HOME, "first"))).toEqual([]);
        expect(names(await memories.search(HOME, "second"))).toEqual(["a"]);
      });

      it("does not make what is not there", async () => {
        const memories = await openMemories();
        expect(await memories.write(at("a"), "x", { ifMatch: "0".repeat(40) })).toMatchObject({ error: "conflict" });
        expect(await memories.exists(at("a"))).toBe(false);
      });

      it("lets one of many win who have read the same", async () => {
        const memories = await openMemories();
        const { hash } = await memories.write(at("a"), "first");
        const rivals = await Promise.all(
          Array.from({ length: 8 }, (_, index) => memories.write(at("a"), `rival ${index}`, { ifMatch: hash })),
        );
        expect(rivals.filter(({ success }) => success)).toHaveLength(1);
        const winner = rivals.findIndex(({ success }) => success);
        expect((await memories.read(at("a"))).content).toBe(`rival ${winner}`);
        expect(await memories.search(HOME, "rival")).toHaveLength(1);
      });

      it.each(losses)("tells what came of it when the write loses %s", async (loss) => {
        const { driver, storesOn } = await open();
        const losing = losingDriver(driver);
        const { memories } = await storesOn(losing);
        const { hash } = await memories.write(at("a"), "first");
        losing.loseNext(loss);
        expect(await memories.write(at("a"), "second", { ifMatch: hash })).toMatchObject({ success: true });
        expect((await memories.read(at("a"))).content).toBe("second");
        losing.loseNext(loss);
        expect(await memories.write(at("a"), "third", { ifMatch: hash })).toMatchObject({ error: "conflict" });
      });
    });

    describe("lists", () => {
      it("hold what lies directly in a layer, in the order of the bytes of the names", async () => {
        const memories = await openMemories();
        const all = [
          "b.md",
          "a.md",
          "B.md",
          "ä.md",
          "_.md",
          "daily/2026/04/17.md",
          "a-1",
          "a.1",
          "a 1",
          "🎈",
          "\uff5e",
        ];
        await keepAll(memories, Object.fromEntries(all.map((each) => [each, undefined])));
        await memories.write(at("c.md", { user_id: 8 }), "another's");
        const top = all.filter((each) => !each.includes("/"));
        const byBytes = top.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
        expect(names(await memories.listLayer(at("ignored")))).toEqual(byBytes);
      });

      it("go down into a folder, whose name is no pattern", async () => {
        const memories = await openMemories();
        const all = ["da%/x", "daily/2026/17.md", "daily/a", "daily", "dailyish/x", "Daily/x", "dai_y/x", "daily0/x"];
        await keepAll(memories, Object.fromEntries(all.map((each) => [each, undefined])));
        expect(names(await memories.listSubtree(HOME, "daily"))).toEqual(["daily/2026/17.md", "daily/a"]);
        expect(names(await memories.listSubtree(HOME, "daily/"))).toEqual(["daily/2026/17.md", "daily/a"]);
        expect(names(await memories.listSubtree(HOME, "dai_y"))).toEqual(["dai_y/x"]);
        expect(names(await memories.listSubtree(HOME, "da%"))).toEqual(["da%/x"]);
        expect(await memories.listSubtree(HOME, "")).toHaveLength(all.length);
      });

      it("tell of each entry what is asked for, and never its content", async () => {
        const memories = await openMemories();
        await memories.write(at("a"), "12345", { metadata: { created_at: 3, updated_at: 4 } });
        const query = { metadata_fields: ["created_at", "mood"] };
        expect(await memories.listLayer(HOME, query)).toEqual([
          {
            filename: "a",
            layer: "user",
            bytes: 5,
            updated_at: 4,
            metadata: { created_at: 3 },
            unsupported_metadata_fields: ["mood"],
          },
        ]);
      });

      it("filter and rank like the rule of the contract, whatever is asked", async () => {
        const memories = await openMemories();
        await keepAll(memories, described);
        const all = await memories.listLayer(HOME);
        for (const query of queries) {
          expect(names(await memories.listLayer(HOME, query)), JSON.stringify(query)).toEqual(ruled(all, query));
          expect(names(await memories.retrieve(HOME, query)), JSON.stringify(query)).toEqual(ruled(all, query));
        }
      });

      it("give what is about to be used with its content, and only so much of it", async () => {
        const memories = await openMemories();
        await keepAll(memories, { ...described, "folder/z": { confidence: 0.95 } });
        const best = await memories.retrieve(HOME, { order_by: "confidence" }, { limit: 3 });
        expect(names(best)).toEqual(["c", "folder/z", "a"]);
        expect(best[1]).toMatchObject({ content: "folder/z", bytes: 8, metadata: { confidence: 0.95 } });
        expect(best[1]?.hash).toBe((await memories.read(at("folder/z"))).hash);
        expect(await memories.retrieve(HOME, {}, { limit: 0 })).toEqual([]);
      });
    });

    describe("search", () => {
      it("finds what holds every word, the last also by its beginning while nothing follows it", async () => {
        const memories = await openMemories();
        await memories.write(at("tea"), "Anna likes GREEN tea, not coffee.");
        await memories.write(at("coffee"), "Ben likes black coffee.");
        await memories.write(at("folder/greens"), "Carla likes greens");
        const search = async (words: string) => names(await memories.search(HOME, words)).toSorted();
        expect(await search("likes")).toEqual(["coffee", "folder/greens", "tea"]);
        expect(await search("likes coffee")).toEqual(["coffee", "tea"]);
        expect(await search("green")).toEqual(["folder/greens", "tea"]);
        expect(await search("green ")).toEqual(["tea"]);
        expect(await search("green tea milk")).toEqual([]);
        expect(await search("Tea, green!")).toEqual(["tea"]);
        expect(await search("gree likes")).toEqual([]);
      });

      it("finds a memory by its name too", async () => {
        const memories = await openMemories();
        await memories.write(at("people/anna.md"), "Likes tea.");
        expect(names(await memories.search(HOME, "anna tea"))).toEqual(["people/anna.md"]);
      });

      it("finds words of every script alike", async () => {
        const memories = await openMemories();
        await memories.write(at("jp"), "私は東京都に住んでいます。黒猫が好き");
        await memories.write(at("hi"), "मुझे हिन्दी पसंद है");
        await memories.write(at("de"), "Größe und Straße, ＦＵＬＬ width");
        await memories.write(at("ru"), "Люблю ЧАЙ");
        await memories.write(at("new"), "𞤀𞤁𞤂 🎈 mp3 x86_64 3.14 user@example.org");
        const search = async (words: string) => names(await memories.search(HOME, words));
        expect(await search("東京")).toEqual(["jp"]);
        expect(await search("京東")).toEqual([]);
        expect(await search("猫")).toEqual(["jp"]);
        expect(await search("हिन्दी")).toEqual(["hi"]);
        expect(await search("GRÖSSE")).toEqual([]);
        expect(await search("größe")).toEqual(["de"]);
        expect(await search("grosse")).toEqual([]);
        expect(await search("full")).toEqual(["de"]);
        expect(await search("чай")).toEqual(["ru"]);
        expect(await search("𞤢𞤣𞤤")).toEqual(["new"]);
        expect(await search("x86 64")).toEqual(["new"]);
        expect(await search("user@example.org")).toEqual(["new"]);
        expect(await search("3.14")).toEqual(["new"]);
      });

      it("takes whatever is asked for words, and nothing of it for a command", async () => {
        const memories = await openMemories();
        await memories.write(at("a"), "cat or dog");
        const asked = [
          `"`,
          `'`,
          `cat"`,
          `cat'`,
          `"cat" OR x`,
          "cat NEAR dog",
          "scope : x",
          "cat:*",
          "cat & !dog",
          "\\",
          "*",
          "^cat",
          "cat AND (",
          "\0",
        ];
        for (const words of asked) await expect(memories.search(HOME, words), words).resolves.toBeInstanceOf(Array);
        expect(names(await memories.search(HOME, `"cat" dog*`))).toEqual(["a"]);
        expect(await memories.search(HOME, "cat NOT bird")).toEqual([]);
        expect(await memories.search(HOME, "")).toEqual([]);
        expect(await memories.search(HOME, "?!")).toEqual([]);
      });

      it("puts first what is most about it, and among equals goes by name", async () => {
        const memories = await openMemories();
        const filler = "one two three four five six seven eight nine ten ".repeat(10);
        await memories.write(at("passing"), `${filler} tea ${filler}`);
        await memories.write(at("mostly"), "tea tea tea and more tea");
        await memories.write(at("z"), "a little tea");
        await memories.write(at("y"), "a little tea");
        expect(names(await memories.search(HOME, "tea"))).toEqual(["mostly", "y", "z", "passing"]);
      });

      it("filters and ranks as a query says, and stops where it is told", async () => {
        const memories = await openMemories();
        for (const [filename, metadata] of Object.entries(described)) {
          await memories.write(at(filename), "a shared word", metadata && { metadata });
        }
        await memories.write(at("other"), "something else", { metadata: { confidence: 1 } });
        const all = (await memories.listLayer(HOME)).filter(({ filename }) => filename !== "other");
        for (const query of queries) {
          expect(names(await memories.search(HOME, "word", query)), JSON.stringify(query)).toEqual(ruled(all, query));
        }
        expect(await memories.search(HOME, "word", { order_by: "created_at" }, { limit: 2 })).toHaveLength(2);
        expect(await memories.search(HOME, "word", {}, { limit: 2 })).toHaveLength(2);
        const [first] = await memories.search(HOME, "word", { source_types: ["curated"] });
        expect(first).toMatchObject({ filename: "c", content: "a shared word", metadata: { source_type: "curated" } });
      });

      it("finds no scope by its own hash, and nothing of another scope", async () => {
        const { stores, driver } = await open();
        await stores.memories.write(at("a"), "one word");
        await stores.memories.write(at("a", { user_id: 8 }), "one word");
        const [row] = await driver.all("select scope from memories limit 1");
        expect(await stores.memories.search(HOME, String(row?.scope))).toEqual([]);
        expect(await stores.memories.search(HOME, "word")).toHaveLength(1);
      });

      it("indexes the beginning of a text that holds more words than an index takes", async () => {
        const memories = await openMemories();
        const words = Array.from({ length: 150_000 }, (_, index) => `word${index}`);
        await memories.write(at("a"), words.join(" "));
        expect(names(await memories.search(HOME, "word17 word1000 "))).toEqual(["a"]);
      });
    });

    describe("what an agent remembers on the way", () => {
      const memory: Write = {
        write: "memory",
        scope: at("tea"),
        content: "Likes tea.",
        metadata: {
          source_type: "agent_inferred",
          created_by_agent_id: 3,
          confidence: 0.5,
          authority_tier: "low",
          created_at: 1,
          updated_at: 1,
        },
        consent: JSON.stringify(ALLOWED),
      };

      it("is stored with the commit that says so, and not without it", async () => {
        const { stores } = await open();
        const held = await heldThread(stores);
        const refused = await stores.threads.commit(aCommit({ ...held, epoch: held.epoch + 1 }, { writes: [memory] }));
        expect(refused).not.toMatchObject({ outcome: "committed" });
        expect(await stores.memories.exists(at("tea"))).toBe(false);
        await stores.threads.commit(aCommit(held, { writes: [memory] }));
        expect(await stores.memories.read(at("tea"))).toMatchObject({
          content: "Likes tea.",
          metadata: memory.metadata,
        });
        expect(names(await stores.memories.search(HOME, "tea"))).toEqual(["tea"]);
      });

      it("may be replaced and forgotten in the same way", async () => {
        const { stores } = await open();
        const thread = await openThread(stores);
        await stores.writes.apply(thread, [memory, { ...memory, content: "Likes coffee." }]);
        expect(names(await stores.memories.search(HOME, "coffee"))).toEqual(["tea"]);
        expect(names(await stores.memories.search(HOME, "likes"))).toEqual(["tea"]);
        await stores.writes.apply(thread, [{ write: "memory_gone", scope: at("tea") }]);
        expect(await stores.memories.exists(at("tea"))).toBe(false);
        expect(await stores.memories.search(HOME, "likes")).toEqual([]);
      });

      it.each([
        ["user_asserted", true],
        ["curated", false],
        ["imported", false],
      ])("does not replace what is %s", async (source_type, mayBeForgotten) => {
        const { stores } = await open();
        const thread = await openThread(stores);
        await stores.memories.write(at("tea"), "Hates tea.", { metadata: { source_type } });
        await stores.writes.apply(thread, [memory]);
        expect(await stores.memories.read(at("tea"))).toMatchObject({
          content: "Hates tea.",
          metadata: { source_type },
        });
        expect(names(await stores.memories.search(HOME, "hates"))).toEqual(["tea"]);
        expect(await stores.memories.search(HOME, "likes")).toEqual([]);
        await stores.writes.apply(thread, [{ write: "memory_gone", scope: at("tea") }]);
        expect(await stores.memories.exists(at("tea"))).toBe(!mayBeForgotten);
      });

      it("replaces what nobody knows the writer of, and what an agent wrote in another's name", async () => {
        const { stores } = await open();
        const thread = await openThread(stores);
        for (const metadata of [undefined, { source_type: "curated", created_by_agent_id: 3 }]) {
          await stores.memories.write(at("tea"), "Hates tea.", metadata && { metadata });
          await stores.writes.apply(thread, [memory]);
          expect(await stores.memories.read(at("tea"))).toMatchObject({ content: "Likes tea." });
        }
      });

      it("is kept only while the consent that it was decided from is the one of the thread", async () => {
        const { stores } = await open();
        const subject: StoredSubject = {
          ...{ principal: "{}", workspace_type: null, workspace_id: null, owner_type: null, owner_key: null },
          ...{ context: "chat", consent: '{"store_memory":true}' },
        };
        const id = await openThread(stores, { subject });
        const under = (consent: string | null): Write => ({ ...memory, if_consent: { thread_id: id, consent } });
        const isKept = async (write: Write) => {
          await stores.memories.delete(at("tea"));
          expect(await stores.writes.apply(id, [write])).toBe("written");
          expect(names(await stores.memories.search(HOME, "likes"))).toEqual(
            (await stores.memories.exists(at("tea"))) ? ["tea"] : [],
          );
          return await stores.memories.exists(at("tea"));
        };
        expect(await isKept(under(subject.consent))).toBe(true);
        expect(await isKept(under(null))).toBe(false);
        await stores.subjects.changeConsent(id, subject, "{}");
        expect(await isKept(under(subject.consent))).toBe(false);
        expect(await isKept(under("{}"))).toBe(true);
        const none = await openThread(stores);
        expect(await isKept({ ...memory, if_consent: { thread_id: none, consent: null } })).toBe(true);
        expect(await isKept({ ...memory, if_consent: { thread_id: none, consent: "{}" } })).toBe(false);
      });

      it("leaves what was there before when the consent is another one", async () => {
        const { stores } = await open();
        const thread = await openThread(stores);
        await stores.writes.apply(thread, [memory]);
        const if_consent = { thread_id: thread, consent: "{}" };
        await stores.writes.apply(thread, [{ ...memory, content: "Likes coffee.", if_consent }]);
        expect(await stores.memories.read(at("tea"))).toMatchObject({ content: "Likes tea." });
        expect(names(await stores.memories.search(HOME, "tea"))).toEqual(["tea"]);
        expect(await stores.memories.search(HOME, "coffee")).toEqual([]);
      });
    });

    describe("validation", () => {
      it("is kept while the content stays, and may change how far it is trusted", async () => {
        const memories = await openMemories();
        const { hash } = await memories.write(at("a"), "x", { metadata: { source_type: "imported" } });
        expect(await memories.validation(at("a"))).toBeUndefined();
        expect(await memories.revalidated(at("a"), hash, { status: "valid", at: 100 })).toBe(true);
        expect(await memories.validation(at("a"))).toEqual({ status: "valid", message: null, validated_at: 100 });
        expect((await memories.read(at("a"))).metadata).toMatchObject({ confidence: 0.7 });
        await memories.revalidated(at("a"), hash, { status: "stale", message: "It moved.", confidence: 0.1, at: 200 });
        expect(await memories.validation(at("a"))).toEqual({
          status: "stale",
          message: "It moved.",
          validated_at: 200,
        });
        expect((await memories.read(at("a"))).metadata).toMatchObject({ confidence: 0.1 });
        await memories.write(at("a"), "y");
        expect(await memories.validation(at("a"))).toBeUndefined();
      });

      it("says nothing about another content", async () => {
        const memories = await openMemories();
        const { hash } = await memories.write(at("a"), "x");
        await memories.write(at("a"), "y");
        expect(await memories.revalidated(at("a"), hash, { status: "valid", confidence: 1, at: 1 })).toBe(false);
        expect(await memories.revalidated(at("b"), hash, { status: "valid", at: 1 })).toBe(false);
        expect(await memories.validation(at("a"))).toBeUndefined();
      });
    });

    describe("forgetting", () => {
      const anywhere = [
        at("a"),
        at("b", { layer: "agent", agent_id: 12 }),
        at("c", { workspace_id: "2" }),
        at("d", { user_id: 8 }),
        at("e", { user_id: 0 }),
      ];
      const leftOf = async (memories: KeptMemories) =>
        (await Promise.all(anywhere.map((scope) => memories.exists(scope)))).flatMap((exists, index) =>
          exists ? [anywhere[index]?.filename] : [],
        );

      it("takes all of a person, an agent or a workspace, or of those of them that are named together", async () => {
        const memories = await openMemories();
        const workspace = { workspace_type: "site", workspace_id: "1" };
        const cases = [
          { of: { user_id: 7 }, count: 3, left: ["d", "e"] },
          { of: { workspace }, count: 4, left: ["c"] },
          { of: { workspace, user_id: 7 }, count: 2, left: ["c", "d", "e"] },
          { of: { agent_id: 12 }, count: 1, left: ["a", "c", "d", "e"] },
          { of: { agent_id: 12, user_id: 8 }, count: 0, left: ["a", "b", "c", "d", "e"] },
          { of: { user_id: 9 }, count: 0, left: ["a", "b", "c", "d", "e"] },
        ];
        for (const { of, count, left } of cases) {
          for (const scope of anywhere) await memories.write(scope, "tea");
          expect(await memories.forgetAll(of)).toBe(count);
          expect(await leftOf(memories)).toEqual(left);
        }
        await memories.forgetAll({ user_id: 7 });
        expect(await memories.search(HOME, "tea")).toEqual([]);
      });

      it("takes nothing when nobody is named, nor when it is nobody", async () => {
        const memories = await openMemories();
        for (const scope of anywhere) await memories.write(scope, "tea");
        await expect(memories.forgetAll({})).rejects.toMatchObject({ code: "invalid_argument" });
        await expect(memories.forgetAll({ user_id: 0 })).rejects.toMatchObject({ code: "invalid_argument" });
        await expect(memories.forgetAll({ user_id: 7, agent_id: 0 })).rejects.toMatchObject({
          code: "invalid_argument",
        });
        expect(await leftOf(memories)).toHaveLength(5);
      });
    });
  });
}

/** Of every kind, and some that lack what others have. */
const described: Readonly<Record<string, MemoryMetadata | undefined>> = {
  a: { source_type: "user_asserted", created_at: 10, updated_at: 50 },
  b: { source_type: "agent_inferred", validator: "repo_state", created_at: 30, updated_at: 10 },
  c: { source_type: "curated", created_at: 20, updated_at: 20 },
  d: undefined,
  e: { source_type: "imported", validator: "page", created_at: 30, updated_at: 30 },
  f: { source_type: "rumour", authority_tier: "divine", confidence: 0, created_at: 20, updated_at: 5 },
};

const queries: readonly MemoryQuery[] = [
  {},
  { source_types: ["curated", "imported"] },
  { source_types: ["nothing"] },
  { min_confidence: 0.9 },
  { min_confidence: 0 },
  { min_confidence: 1 },
  { authority_tiers: ["low", "canonical"] },
  { validators: ["page", "repo_state"] },
  { source_types: ["imported", "curated"], min_confidence: 0.7, authority_tiers: ["medium"], validators: ["page"] },
  ...["confidence", "authority_tier", "created_at", "updated_at"].flatMap((order_by): MemoryQuery[] => [
    { order_by },
    { order_by, order: "asc" },
    { order_by, min_confidence: 0.5 },
  ]),
];

function ruled(all: readonly MemoryEntry[], query: MemoryQuery): readonly string[] {
  return names(apply(all, query));
}
