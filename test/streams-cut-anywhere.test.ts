// Wherever a provider's stream is cut, what comes of it is the whole answer or a failure: a thread never holds half a
// message, and never the same one twice.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { text } from "../src/contracts/conversation/message.ts";
import { aiSdkModel } from "../src/models/ai-sdk/ai-sdk-model.ts";
import type { ModelAnswer, ModelDelta } from "../src/models/model.ts";
import { ModelFailure } from "../src/models/model-failure.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { inShort } from "./held.ts";
import {
  eventsOf,
  type Protocol,
  type ProviderRequest,
  type ProviderServer,
  startProviderServer,
} from "./provider-server.ts";
import { anthropic, olderOpenai, openai } from "./provider-server-models.ts";
import type { Fault, Reply } from "./provider-server-reply.ts";

const whole: Reply = { text: "Schön, I look.", calls: [{ id: "call_a", name: "shop__peek", input: { shelf: 3 } }] };
const said = "Schön, I look.";

/** The connection is lost, or the stream ends in good order as if that had been all. */
const ways = ["cutAfterBytes", "endsAfterBytes"] as const;

function faultAt(way: (typeof ways)[number], bytes: number): Fault {
  return way === "cutAfterBytes" ? { cutAfterBytes: bytes } : { endsAfterBytes: bytes };
}

function lengthOf(protocol: Protocol, reply = whole): number {
  return Buffer.byteLength(eventsOf(protocol, reply).join(""));
}

/** How many bytes there are up to the end of the event that says that the answer is finished. */
function finishedAfter(protocol: Protocol): number {
  const events = eventsOf(protocol, whole);
  const last = events.findIndex((event) => /"finish_reason":"|message_stop/.test(event));
  return Buffer.byteLength(events.slice(0, last + 1).join(""));
}

describe.each([openai, olderOpenai, anthropic])("$title", ({ protocol, model: modelOn }) => {
  let server: ProviderServer;

  beforeAll(async () => {
    server = await startProviderServer({ script: faultOfMessage });
  });
  afterAll(() => server.close());

  it.each(ways)("cut at every byte (%s) gives the whole answer or a failure", async (way) => {
    const model = aiSdkModel(modelOn(server));
    const outcomes = new Map<number, "whole" | "failed">();
    const positions = Array.from({ length: lengthOf(protocol) + 1 }, (_, position) => position);

    // A few at a time: the other side answers while this one reads.
    for (let from = 0; from < positions.length; from += 8) {
      await Promise.all(
        positions.slice(from, from + 8).map(async (position) => {
          outcomes.set(position, await outcomeAt(model, way, position));
        }),
      );
    }

    const finished = finishedAfter(protocol);
    const wholes = positions.filter((position) => outcomes.get(position) === "whole");
    // Nobody can tell that an answer is whole before it says so; that it is, is known at its end at the latest.
    expect(wholes.every((position) => position >= finished)).toBe(true);
    if (way === "endsAfterBytes") expect(wholes).toEqual(positions.slice(finished));
  });
});

function faultOfMessage({ body }: ProviderRequest): Reply {
  const [, way, position] = /(\w+AfterBytes) (\d+)/.exec(JSON.stringify(body.messages)) ?? [];
  const fault = faultAt(way === "cutAfterBytes" ? way : "endsAfterBytes", Number(position));
  return { ...whole, fault };
}

async function outcomeAt(model: ReturnType<typeof aiSdkModel>, way: string, position: number) {
  const told: ModelDelta[] = [];
  const onDelta = (delta: ModelDelta) => told.push(delta);
  try {
    const answer = (await model([text("user", `${way} ${position}`)], {}, { tools: {}, onDelta })) as ModelAnswer;
    expect(answer).toMatchObject({
      content: said,
      tool_calls: [{ id: "call_a", name: "shop__peek", parameters: { shelf: 3 } }],
    });
    return "whole";
  } catch (thrown) {
    if (!(thrown instanceof ModelFailure)) throw thrown;
    expect(thrown.code).toBe("model_answer_broken");
    const words = told.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("");
    expect(said.startsWith(words)).toBe(true);
    if (words !== "") expect(thrown.hasSpoken).toBe(true);
    return "failed";
  }
}

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "a lamp" });

const SAMPLES = 30;

/** Every run takes other places; a run that failed is repeated with the seed that its title shows. */
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

function* randomNumbers(from: number): Generator<number, never> {
  for (let state = from; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

/** Which answer of a thread is cut, how, and where. */
type Place = { readonly answer: "call" | "last"; readonly way: (typeof ways)[number]; readonly position: number };

const replies: Readonly<Record<Place["answer"], Reply>> = { call: whole, last: { text: "There it is." } };

function somePlaces(protocol: Protocol): readonly Place[] {
  const random = randomNumbers(seed);
  return ways.flatMap((way) =>
    Array.from({ length: SAMPLES }, (_, index) => {
      const answer = index % 3 === 0 ? "last" : "call";
      const position = Math.floor(random.next().value * (lengthOf(protocol, replies[answer]) + 1));
      return { answer, way, position };
    }),
  );
}

const messages = [`assistant: ${said}`, "call shop/peek", 'result shop/peek: "a lamp"', "assistant: There it is."];

eachDatabase((newWorld) => {
  describe.each([openai, anthropic])("a thread on $title", ({ protocol, model: modelOn }) => {
    it.each([
      ["has every answer once, after it was asked for again", 3],
      ["has a whole answer or nothing of it, if it is asked for only once", 1],
    ])(`%s (seed ${seed})`, async (_what, attempts) => {
      const world = await newWorld();
      const places = somePlaces(protocol);
      const server = await startProviderServer({ script: cutOnce(places) });
      onTestFinished(() => server.close());
      const model = aiSdkModel(modelOn(server));
      const retry = { attempts, backoffMs: 1 };
      const { threads } = await world.open(agent({ slug: "clerk", model, tools: [peek], retry }));

      const results = await Promise.all(
        places.map(async ({ answer }, index) => {
          const thread = await threads.open(`thread ${index}`, { agent: "clerk" });
          const { status, failure } = await thread.send(`thread ${index}.`);
          const [, ...history] = inShort((await thread.messages()).map(({ message }) => message));
          return { status, code: failure?.code, history, whole: answer === "call" ? [] : messages.slice(0, 3) };
        }),
      );

      for (const { status, code, history, whole } of results) {
        if (status === "completed") expect(history).toEqual(messages);
        else
          expect({ status, code, history }).toEqual({ status: "failed", code: "model_answer_broken", history: whole });
      }
      const completed = results.filter(({ status }) => status === "completed");
      if (attempts > 1) expect(completed).toHaveLength(results.length);
      else expect(completed.length).toBeLessThan(results.length);
    });
  });
});

/** One answer to each thread is cut, and is whole when it is asked for again. */
function cutOnce(places: readonly Place[]): (request: ProviderRequest) => Reply {
  const cut = new Set<number>();
  return ({ body }) => {
    const shown = JSON.stringify(body.messages);
    const answer = shown.includes("a lamp") ? "last" : "call";
    const thread = Number(/thread (\d+)\./.exec(shown)?.[1]);
    const place = places[thread];
    if (place?.answer !== answer || cut.has(thread)) return replies[answer];
    cut.add(thread);
    return { ...replies[answer], fault: faultAt(place.way, place.position) };
  };
}
