import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { text } from "../../contracts/conversation/message.ts";
import * as declaration from "../../contracts/tools/declaration.ts";
import type { ModelAnswer, ModelOptions } from "../model.ts";
import type { ModelFailure } from "../model-failure.ts";
import { type AiSdkSettings, aiSdkModel } from "./ai-sdk-model.ts";
import type { StreamPart } from "./gather-answer.ts";

const peek = declaration.normalizeForServer({ name: "shop/peek", source: "shop", description: "Looks." });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish = finishing("stop");

function finishing(unified: string, raw: string | undefined = unified): StreamPart {
  return { type: "finish", finishReason: { unified, raw }, usage } as StreamPart;
}

function says(delta: string): StreamPart {
  return { type: "text-delta", id: "0", delta };
}

/** A model of which the test holds the stream. */
function heldModel() {
  const calls: LanguageModelV4CallOptions[] = [];
  let controller: ReadableStreamDefaultController<unknown> | undefined;
  let isCancelled = false;
  const stream = new ReadableStream({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  const model = {
    specificationVersion: "v4",
    provider: "local.chat",
    modelId: "small",
    supportedUrls: {},
    async doStream(options: LanguageModelV4CallOptions) {
      calls.push(options);
      return { stream };
    },
  } as unknown as LanguageModelV4;
  return {
    model,
    calls,
    send: (...parts: StreamPart[]) => {
      for (const part of parts) controller?.enqueue(part);
    },
    end: () => controller?.close(),
    breakOff: (error: unknown) => controller?.error(error),
    isCancelled: () => isCancelled,
  };
}

async function ask(model: LanguageModelV4, options: Partial<ModelOptions> = {}, settings: AiSdkSettings = {}) {
  const asked = aiSdkModel(model, settings);
  return (await asked([text("user", "Hi")], {}, { tools: {}, ...options })) as ModelAnswer;
}

/** What an ask fails with. */
async function failing(asking: Promise<unknown>): Promise<ModelFailure> {
  return await asking.then(
    () => expect.fail("It answered."),
    (thrown) => thrown as ModelFailure,
  );
}

it("asks for what the settings and the run say, and for the shorter answer", async () => {
  const { model, calls, send, end } = heldModel();
  send(says("{}"), finish);
  end();
  const schema = { type: "object" };

  await ask(
    model,
    { tools: { "shop/peek": peek }, maxOutputTokens: 50, output: { name: "verdict", schema } },
    { maxOutputTokens: 80, temperature: 0.5, providerOptions: { local: { effort: "low" } } },
  );

  expect(calls).toEqual([
    expect.objectContaining({
      prompt: [{ role: "system", content: expect.stringContaining('{"type":"object"}') }, expect.anything()],
      tools: [
        {
          type: "function",
          name: "shop__peek",
          description: "Looks.",
          inputSchema: { type: "object", properties: {} },
        },
      ],
      responseFormat: { type: "json", name: "verdict", schema },
      maxOutputTokens: 50,
      temperature: 0.5,
      providerOptions: { local: { effort: "low" } },
    }),
  ]);
});

it("passes on which tools are to be called, how hard to think and what only the provider knows", async () => {
  const { model, calls, send, end } = heldModel();
  send(says("Hi"), finish);
  end();

  await ask(
    model,
    {
      tools: { "shop/peek": peek },
      toolChoice: "required",
      reasoning: { effort: "high" },
      providerOptions: { local: { effort: "high" } },
    },
    { providerOptions: { local: { effort: "low", user: "shop" } } },
  );

  expect(calls[0]).toMatchObject({
    toolChoice: { type: "required" },
    reasoning: "high",
    providerOptions: { local: { effort: "high", user: "shop" } },
  });
});

it("says nothing of calls where there is no tool, nor of thinking to a model of the older interface", async () => {
  const { model, calls, send, end } = heldModel();
  const older = { ...model, specificationVersion: "v3" } as unknown as LanguageModelV4;
  send(says("Hi"), finish);
  end();

  await ask(older, { toolChoice: "required", parallelToolCalls: true, reasoning: { effort: "high" } });

  expect(Object.keys(calls[0] ?? {}).sort()).toEqual(["abortSignal", "includeRawChunks", "prompt"]);
});

it("keeps thoughts that nobody wants to hear with the answer", async () => {
  const { model, send, end } = heldModel();
  send({ type: "reasoning-start", id: "1" }, { type: "reasoning-delta", id: "1", delta: "Hm." }, says("Hi"), finish);
  end();
  const told: unknown[] = [];

  const answer = await ask(model, { reasoning: { exclude: true }, onDelta: (delta) => told.push(delta) });

  expect(told).toEqual([{ type: "text", text: "Hi" }]);
  expect(answer.message_metadata).toMatchObject({ reasoning: [{ text: "Hm." }] });
});

it("leaves to the provider what nobody has set", async () => {
  const { model, calls, send, end } = heldModel();
  send(says("Hi"), finish);
  end();

  await ask(model);

  expect(Object.keys(calls[0] ?? {}).sort()).toEqual(["abortSignal", "includeRawChunks", "prompt"]);
});

it.each([undefined, "v2", "v5"])("refuses a model of the interface %s", (specificationVersion) => {
  const model = { ...heldModel().model, specificationVersion } as unknown as LanguageModelV4;

  expect(() => aiSdkModel(model)).toThrowError(expect.objectContaining({ code: "model_interface_unknown" }));
});

it("gives an answer that was cut short or filtered, and says so", async () => {
  for (const reason of ["length", "content-filter", "tool-calls"]) {
    const { model, send, end } = heldModel();
    send(says("Half"), finishing(reason));
    end();

    expect(await ask(model)).toMatchObject({ content: "Half", request_metadata: { finish_reason: reason } });
  }
});

it.each([
  ["an error as its end", [says("Half"), finishing("error")]],
  ["an interruption as its end", [says("Half"), finishing("interrupted", undefined)]],
  [
    "an end for which nobody has a reason",
    [says("Half"), { ...finishing("other"), finishReason: { unified: "other" } }],
  ],
  ["no end at all", [says("Half")]],
  ["an error in the middle", [says("Half"), { type: "error", error: new Error("Oops") }, finish]],
])("takes a stream with %s for no answer", async (_what, parts) => {
  const { model, send, end } = heldModel();
  send(...(parts as StreamPart[]));
  end();

  expect(await failing(ask(model))).toMatchObject({ code: "model_answer_broken", hasSpoken: true });
});

it("says what the network said when a stream breaks off, unless the answer was whole before", async () => {
  const half = heldModel();
  const asking = failing(ask(half.model, { onDelta: () => half.breakOff(new Error("reset by peer")) }));
  half.send(says("Half"));
  expect(await asking).toMatchObject({ code: "model_answer_broken", detail: "local.chat/small failed: reset by peer" });

  const whole = heldModel();
  const answering = ask(whole.model, { onDelta: () => setImmediate(whole.breakOff, new Error("reset by peer")) });
  whole.send(says("Whole"), finish);
  expect(await answering).toMatchObject({ content: "Whole" });
});

it("fails with the listener's own error when that throws, and ends the request", async () => {
  const { model, calls, send, isCancelled } = heldModel();
  send(says("Hi"));
  const mistake = new Error("mine");

  const thrown = await failing(
    ask(model, {
      onDelta: () => {
        throw mistake;
      },
    }),
  );

  expect(thrown).toBe(mistake);
  expect(calls[0]?.abortSignal?.aborted).toBe(true);
  expect(isCancelled()).toBe(true);
});

it("takes what is thrown before there is a promise for a failure too", async () => {
  const { model } = heldModel();
  model.doStream = () => {
    throw Object.assign(new Error("No key."), { name: "AI_LoadAPIKeyError" });
  };

  expect(await failing(ask(model))).toMatchObject({ code: "model_refused" });
});

describe("aborted by its caller", () => {
  it("throws the caller's reason, not a failure, and ends the request", async () => {
    const { model, calls, send, isCancelled } = heldModel();
    const abort = new AbortController();
    const reason = new Error("enough");

    send(says("Hi"));
    const thrown = await failing(ask(model, { signal: abort.signal, onDelta: () => abort.abort(reason) }));

    expect(thrown).toBe(reason);
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
    expect(isCancelled()).toBe(true);
  });

  it("is not asked at all when it is too late", async () => {
    const { model, calls } = heldModel();

    expect(await failing(ask(model, { signal: AbortSignal.abort("late") }))).toBe("late");
    expect(calls).toEqual([]);
  });

  it("does not wait for a package that does not listen", async () => {
    const { model } = heldModel();
    const abort = new AbortController();
    model.doStream = () => new Promise(() => {});
    const asking = failing(ask(model, { signal: abort.signal }));

    abort.abort("enough");

    expect(await asking).toBe("enough");
  });
});

describe("silence", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("for a minute before the first word is a stall, and ends the request", async () => {
    const { model, calls } = heldModel();
    model.doStream = (options) => {
      calls.push(options);
      return new Promise(() => {});
    };
    const asking = failing(ask(model));

    await vi.advanceTimersByTimeAsync(59_999);
    expect(calls[0]?.abortSignal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    expect(await asking).toMatchObject({ code: "model_stalled", hasSpoken: false });
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
  });

  it("in the middle is a stall too; any sign of life puts it off", async () => {
    const { model, send, isCancelled } = heldModel();
    const asking = failing(ask(model, {}, { stallMs: 1_000 }));
    for (const part of [says("He"), { type: "ping" }, { type: "raw", rawValue: {} }, says("llo")] as StreamPart[]) {
      await vi.advanceTimersByTimeAsync(900);
      expect(isCancelled()).toBe(false);
      send(part);
    }

    await vi.advanceTimersByTimeAsync(1_000);

    expect(await asking).toMatchObject({ code: "model_stalled", hasSpoken: true });
    expect(isCancelled()).toBe(true);
  });

  it("after the end of the answer is not waited for: the answer is whole", async () => {
    const { model, send, isCancelled } = heldModel();
    const asking = ask(model);
    send(says("Hello"), finish);

    await vi.advanceTimersByTimeAsync(1_000);

    expect(await asking).toMatchObject({ content: "Hello" });
    expect(isCancelled()).toBe(true);
  });

  it("leaves no timer behind", async () => {
    const { model, send, end } = heldModel();
    send(says("Hello"), finish);
    end();

    await ask(model);

    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, -1, Number.NaN])("of %d ms cannot be asked for", (stallMs) => {
    expect(() => aiSdkModel(heldModel().model, { stallMs })).toThrowError(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });
});
