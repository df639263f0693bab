// Promise: who watches a run cannot change it. Every scripted conversation is run again under observers that scribble over
// what they are shown, throw, reject or never answer, and comes to the same result.
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { type LoopScript, scriptRun } from "../conformance/scripts/loop.ts";
import { errorMessage } from "../src/contracts/error.ts";
import type { RunOptions } from "../src/loop/options.ts";
import { runConversation } from "../src/loop/run-conversation.ts";
import { asStored } from "./log-driver.ts";

const { cases } = JSON.parse(
  readFileSync(new URL("../conformance/vectors/runtime/loop.run.json", import.meta.url), "utf8"),
) as { cases: { name: string; input: LoopScript }[] };

type Observer = (event: string, payload: object) => unknown;

const observers: Readonly<Record<string, Observer>> = {
  "scribbles over everything it is shown": (_event, payload) => scribble(payload),
  throws: () => {
    throw new Error("observer");
  },
  "throws what is no error": () => {
    throw undefined;
  },
  rejects: () => Promise.reject(new Error("observer")),
  "never answers": () => new Promise(() => undefined),
  "returns something that pretends to be a promise": () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the point of it
    get then() {
      throw new Error("observer");
    },
  }),
};

describe("a run that is watched", () => {
  it.each(cases)("is the run that nobody watches: $name", async ({ input }) => {
    const unwatched = asStored(await play(input));
    for (const [name, observer] of Object.entries(observers)) {
      const watched = await play(input, (options) => {
        options.hooks?.on("loopEvent", observer);
        return { ...options, onEvent: alongside(options.onEvent, observer) };
      });
      expect(asStored(watched), name).toEqual(unwatched);
    }
  });
});

describe("a run under policies that is watched", () => {
  const script: LoopScript = {
    messages: [{ role: "user", content: "go" }],
    options: {
      max_turns: 3,
      tool_declarations: {
        "ability/a": { source: "abilities", description: "Does a." },
        "ability/b": { source: "abilities", description: "Does b." },
      },
    },
    turns: [{ tool_calls: [{ id: "1", name: "ability/a" }] }, { tool_calls: [{ id: "2", name: "ability/b" }] }],
    executor: {},
    policy_fragments: [{ deny: ["ability/b"] }, null],
    action_policies: ["direct", "preview"],
    pending_store: true,
  };

  it("is the run that nobody watches", async () => {
    const unwatched = asStored(await play(script));
    expect(unwatched).toMatchObject({ status: "approval_required", turn_count: 2 });
    for (const [name, observer] of Object.entries(observers)) {
      const watched = await play(script, (options) => ({ ...options, onEvent: alongside(options.onEvent, observer) }));
      expect(asStored(watched), name).toEqual(unwatched);
    }
  });

  it("shows policies what they can scribble over without a trace", async () => {
    const ruining = (_value: unknown, ...about: unknown[]) => {
      for (const value of about) scribble(value);
    };
    const scribbled = await play(script, (options) => {
      options.hooks?.filter("toolPolicyProviders", ruining);
      options.hooks?.filter("resolvedTools", ruining);
      options.hooks?.filter("toolActionPolicy", ruining);
      return options;
    });
    expect(asStored(scribbled)).toEqual(asStored(await play(script)));
  });
});

describe("what a run shows its callbacks", () => {
  it.each(cases)("can be scribbled over afterwards without a trace: $name", async ({ input }) => {
    const scribbled = await play(input, (options) => ({ ...options, ...scribbling(options) }));
    expect(asStored(scribbled)).toEqual(asStored(await play(input)));
  });
});

describe("the end of a run", () => {
  const hello = [{ role: "user", content: "hello" }];
  const says = (messages: readonly unknown[]) => ({ messages: [...messages, { role: "assistant", content: "hi" }] });
  const locked = (release: () => unknown) => ({
    sessionId: "s",
    transcriptLock: { acquire: () => "token", release },
  });
  const failing: [string, () => unknown][] = [
    ["throws", () => expect.fail("on purpose")],
    ["rejects", () => Promise.reject(new Error("on purpose"))],
  ];

  it.each(failing)("stays the same when the persister %s", async (_how, fail) => {
    const undisturbed = await runConversation(hello, says);
    expect(await runConversation(hello, says, { transcriptPersister: fail })).toEqual(undisturbed);
  });

  it.each(failing)("stays the same when giving the lock back %s", async (_how, fail) => {
    const undisturbed = await runConversation(
      hello,
      says,
      locked(() => undefined),
    );
    expect(await runConversation(hello, says, locked(fail))).toEqual(undisturbed);
  });

  it("does not wait for ever for the persister once the caller has aborted", async () => {
    const controller = new AbortController();
    const transcriptPersister = hangs(controller);
    const ended = await outliving(runConversation(hello, says, { transcriptPersister, signal: controller.signal }));
    expect(ended).toMatchObject({ completed: true, final_content: "hi" });
  });

  it("does not wait for ever for the lock to be taken back once the caller has aborted", async () => {
    const controller = new AbortController();
    const options = { ...locked(hangs(controller)), signal: controller.signal };
    const ended = await outliving(runConversation(hello, says, options));
    expect(ended).toMatchObject({ completed: true, final_content: "hi" });
  });

  /** Never settles, and makes the caller lose patience. */
  const hangs = (controller: AbortController) => () => {
    queueMicrotask(() => controller.abort());
    return new Promise(() => undefined);
  };

  /** What comes of it when as much time passes as is needed. */
  async function outliving<Value>(pending: Promise<Value>): Promise<Value> {
    vi.useFakeTimers();
    try {
      await vi.advanceTimersByTimeAsync(60_000);
      return await pending;
    } finally {
      vi.useRealTimers();
    }
  }
});

/** The result of a case, or what it threw. */
async function play(
  script: LoopScript,
  changed: (options: RunOptions) => RunOptions = (options) => options,
): Promise<unknown> {
  const { turnRunner, options } = await scriptRun(script);
  return runConversation(script.messages, turnRunner, changed(options)).catch((thrown) => ({
    threw: errorMessage(thrown),
  }));
}

function alongside(own: RunOptions["onEvent"], observer: Observer): NonNullable<RunOptions["onEvent"]> {
  return (event, payload) => {
    try {
      own?.(event, payload);
    } catch {
      // The script's own observer may throw too; both are to be heard.
    }
    return observer(event, payload);
  };
}

/** The callbacks of a run, each of which ruins what it was handed once it is done with it. */
function scribbling(options: RunOptions): RunOptions {
  const names = ["toolExecutor", "preToolMediator", "completionPolicy", "postToolResultDiagnostics", "shouldContinue"];
  const ruining = [...names, "interruptSource", "summarizer", "transcriptPersister"].flatMap((name) => {
    const callback = options[name as keyof RunOptions] as ((...given: unknown[]) => unknown) | null | undefined;
    if (!callback) return [];
    return [
      [
        name,
        (...given: unknown[]) => {
          const answer = callback(...given);
          for (const value of given) scribble(value);
          return answer;
        },
      ],
    ];
  });
  return Object.fromEntries(ruining);
}

/** Tries to change, add and delete wherever it can reach. */
function scribble(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof AbortSignal) return;
  for (const key of Object.keys(value)) {
    scribble((value as Record<string, unknown>)[key]);
    Reflect.set(value, key, "scribbled");
    Reflect.deleteProperty(value, key);
  }
  Reflect.set(value, "scribbled", true);
  if (Array.isArray(value) && !Object.isFrozen(value)) value.length = 0;
}
