// Promise: a reader that comes back with its last id and its place in what is being said misses nothing and is told
// nothing twice, however answers are cut into pieces, begun anew and read, here or in another process.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Holdfast } from "../src/holdfast.ts";
import type { ModelDelta } from "../src/models/model.ts";
import { agent } from "../src/threads/agent.ts";
import type { StreamEvent } from "../src/threads/stream/stream.ts";
import { startProcess } from "./another-process.ts";
import { eachDatabase, onPostgres } from "./databases.ts";
import { Client, collect } from "./following.ts";
import { heldModel } from "./held.ts";

type Part = "text" | "reasoning" | "a" | "b";

type Action =
  | { readonly type: "say"; readonly part: Part; readonly letters: string; readonly isCut: boolean }
  /** Reads all that was said so far. */
  | { readonly type: "read" }
  /** Reads on to somewhere in the next event, if there is one, and loses the connection there. */
  | { readonly type: "lose"; readonly after: number }
  /** The model fails, and is asked again. */
  | { readonly type: "fail" };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("say" as const),
      part: fc.constantFrom<Part>("text", "text", "reasoning", "a", "b"),
      letters: fc.stringMatching(/^[a-z 🦀🏳é{]{1,6}$/u),
      isCut: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ type: "read" as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("lose" as const), after: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.constant({ type: "fail" as const }) },
);
const story = fc.record({
  actions: fc.array(action, { minLength: 1, maxLength: 14 }),
  ending: fc.constantFrom("", " End."),
});

function deltaOf(part: Part, text: string): ModelDelta {
  if (part === "text" || part === "reasoning") return { type: part, text };
  // Arguments are shown as far as they are a map, so these are one key after another.
  return { type: "tool_input", id: part, name: "shop/peek", text };
}

const unheard = () => ({ text: "", reasoning: "", inputs: {} as Record<string, string>, length: 0 });

/** Plays stories on threads of one runtime, which are read through another or through the same. */
function storyteller(asked: ReturnType<typeof heldModel>["next"], writing: Holdfast, reading: Holdfast) {
  let stories = 0;
  return async ({ actions, ending }: typeof story extends fc.Arbitrary<infer Story> ? Story : never) => {
    const thread = await writing.threads.open(`story ${stories++}`, { agent: "talker" });
    const followed = await reading.threads.get(thread.id);
    const sent = thread.send("Tell me");
    const client = new Client();
    let said = unheard();
    let call = await asked();
    let events = followed.stream()[Symbol.asyncIterator]();
    let isOpen = false;

    async function next(): Promise<StreamEvent> {
      isOpen = true;
      const { value, done } = await events.next();
      if (done) throw new Error("The stream has ended.");
      return value;
    }
    const isHeard = () => JSON.stringify(client.heard) === JSON.stringify(said);

    for (const each of actions) {
      if (each.type === "say") {
        const { part, isCut } = each;
        const isInput = part === "a" || part === "b";
        const letters = isInput ? (said.inputs[part] === undefined ? "{" : " ") : each.letters;
        for (const piece of isCut ? letters.split("") : [letters]) call.options.onDelta?.(deltaOf(part, piece));
        if (isInput) said.inputs[part] = (said.inputs[part] ?? "") + letters;
        else said[part] += letters;
        said.length += letters.length;
      } else if (each.type === "read") {
        while (said.length > 0 && !isHeard()) client.take(await next());
      } else if (each.type === "lose") {
        if (said.length > 0 && !isHeard()) {
          const event = await next();
          const letters = "text" in event ? [...event.text] : [];
          client.takeBeginning(event, letters.slice(0, each.after).join("").length);
        }
        await events.return?.();
        isOpen = false;
        events = followed.stream(client.position)[Symbol.asyncIterator]();
      } else {
        call.fail(Object.assign(new Error("Overloaded"), { status: 529 }));
        call = await asked();
        said = unheard();
      }
    }
    const words = `${said.text}${ending}`;
    call.answer(words);
    await sent;
    const wasOpen = isOpen;
    while (!client.hasEnded) client.take(await next());
    await events.return?.();

    // Everything that is committed, and nothing twice.
    const all = await collect(followed.stream({ untilRest: true }));
    expect(client.ids).toEqual(all.flatMap((event) => ("id" in event ? [event.id] : [])));
    const [answer] = client.answers;
    expect(answer?.words).toBe(words === "" ? undefined : words);
    // Whoever was there when the answer came has heard every word of it; for others there is the message.
    if (wasOpen && words !== "") expect(answer?.heard.text).toBe(words);
    return { heard: answer?.heard, said, wasOpen, restarts: client.restarts };
  };
}

eachDatabase((newWorld, database) => {
  it("tells a reader that loses its connection over and over exactly what was said", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const talker = agent({ slug: "talker", model, retry: { attempts: 50, backoffMs: 1, mostMs: 2 } });
    const holdfast = await world.open(talker, { verifies: false });
    const play = storyteller(asked, holdfast, holdfast);

    await fc.assert(
      fc.asyncProperty(story, async (given) => {
        const { heard, said, wasOpen } = await play(given);
        if (!wasOpen || !heard) return;
        expect({ reasoning: heard.reasoning, inputs: heard.inputs }).toEqual({
          reasoning: said.reasoning,
          inputs: said.inputs,
        });
      }),
      { numRuns: database === "sqlite" ? 60 : 30 },
    );
  });
});

onPostgres((newWorld) => {
  it("tells it in another process, too", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const talker = agent({ slug: "talker", model, retry: { attempts: 50, backoffMs: 1, mostMs: 2 } });
    const here = await world.open(talker, { verifies: false });
    const there = await world.open(talker, { runs: false });
    const play = storyteller(asked, here, there);

    await fc.assert(
      fc.asyncProperty(story, async (given) => {
        const { heard, said, wasOpen } = await play(given);
        // Thoughts that nobody wrote down in time are not told there.
        if (wasOpen && heard) expect(said.reasoning.startsWith(heard.reasoning)).toBe(true);
      }),
      { numRuns: 8 },
    );
  });

  it("tells when a process dies in the middle of an answer, and another one begins it anew", async () => {
    const world = await newWorld();
    const program = new URL("./talking-runtime.ts", import.meta.url).href;
    const { model } = heldModel();
    const there = await world.open(agent({ slug: "talker", model }), { runs: false });
    const thread = await there.threads.open("c", { agent: "talker" });
    const client = new Client();
    const sent = thread.send("Tell me");
    let events = thread.stream()[Symbol.asyncIterator]();
    const read = async () => client.take((await events.next()).value);

    const first = startProcess(world, program, { words: ["Once ", "upon 🦀", " a time"], isEndless: true });
    expect(await first.says()).toBe("endless");
    while (client.heard.text !== "Once upon 🦀 a time") await read();
    await first.end("SIGKILL");
    await events.return?.();
    const second = startProcess(world, program, { words: ["There ", "was ", "a ", "king."], isEndless: false });
    events = thread.stream(client.position)[Symbol.asyncIterator]();
    while (!client.hasEnded) await read();
    await events.return?.();
    await second.end("SIGKILL");

    expect(await sent).toMatchObject({ final_content: "There was a king." });
    expect(client.restarts).toBe(1);
    expect(client.answers).toMatchObject([{ words: "There was a king.", heard: { text: "There was a king." } }]);
  });
});
