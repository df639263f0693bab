// Code of the author at the places of the runtime: in which order it runs, what it may change, and what its failure does.
import { expect, it } from "vitest";
import { calls, callsTool } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { type HookDefinition, hook } from "../../src/threads/definitions/hook.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, type World } from "../databases.ts";
import { inOneLine, listed, stored } from "./listed.ts";
import { helperOf, openHelper, type SideOf, sideOf } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });

/** Adds its id to the system prompt. */
const signs = (id: string) => hook({ id, hook: "after_system_message", execute: (_state, text) => `${text} ${id}` });

/** A thread whose prompt lists these hooks. */
async function hooked(world: World, given: SideOf, hooks: readonly HookDefinition[]) {
  return await openHelper(world, { hooks: hooks.map(({ id }) => id), ...given }, { options: { hooks } });
}

eachDatabase((newWorld) => {
  it("[HOOK-1] runs the prompt's hooks in their order, each on what the one before has made of it", async () => {
    const { model, asked } = talker("Hi.");
    const hooks = [signs("one"), signs("two"), signs("of_agent")];
    const thread = await openHelper(
      ...([await newWorld(), { model, prompt: "Help.", hooks: ["two", "one"] }] as const),
      { hooks: ["of_agent"], options: { hooks } },
    );

    await thread.send("Hello");

    expect(asked[0]?.options.instructions).toBe("Help. two one");
  });

  it("[HOOK-1] runs the agent's hooks for a prompt that lists none", async () => {
    const { model, asked } = talker("Hi.");
    const about = { hooks: ["of_agent"], options: { hooks: [signs("of_agent")] } };
    const thread = await openHelper(await newWorld(), { model, prompt: "Help." }, about);

    await thread.send("Hello");

    expect(asked[0]?.options.instructions).toBe("Help. of_agent");
  });

  it("[HOOK-1] runs what children install on their parent before and after the parent's own", async () => {
    const { model, asked } = talker("Hi.");
    const quiet = talker("Quiet.");
    const child = agent({
      ...{ name: "child", type: "dual_ai", exposeAsTool: true, toolDescription: "Helps.", maxSessionTurns: 1 },
      ...{ sideA: sideOf("child_a", { model: quiet.model }), sideB: sideOf("child_b", { model: quiet.model }) },
      parentHooks: [{ hook: "last" }, { hook: "first", stage: "before_parent" }],
    });
    const world = await newWorld();
    const resumable = { receives_messages: "side_a" as const };
    const tools = [{ name: "child", blocking: false, immediate: true as const, resumable }];
    const hooks = [signs("first"), signs("own"), signs("last")];
    const { threads } = await world.open([helperOf({ model, prompt: "Help.", hooks: ["own"], tools }), child], {
      hooks,
    });
    const thread = await threads.open("c", { agent: "helper" });

    await thread.send("Hello");

    expect(asked[0]?.options.instructions).toBe("Help. first own last");
  });

  it("[HOOK-2] passes over a hook that fails or returns what it must not, and keeps what there was", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Hi.");
    const throws = hook({
      ...{ id: "throws", hook: "after_system_message" },
      execute: () => {
        throw new Error("No");
      },
    });
    const wrong = hook({ id: "wrong", hook: "after_system_message", execute: () => 5 as never });
    const thread = await hooked(world, { model, prompt: "Help." }, [signs("one"), throws, wrong, signs("two")]);

    expect(await thread.send("Hello")).toMatchObject({ completed: true });

    expect(asked[0]?.options.instructions).toBe("Help. one two");
    expect(world.takeErrors()).toMatchObject([{ code: "hook_failed" }, { code: "hook_failed" }]);
  });

  it("[HOOK-3] does not ask the model when a hook forbids it, and says why", async () => {
    const { model, asked } = talker("Hi.");
    const forbids = hook({
      ...{ id: "forbids", hook: "prefilter_llm_history" },
      execute: (_state, messages) => {
        if (JSON.stringify(messages).includes("password")) throw Object.assign(new Error("Not that."), { block: true });
        return messages;
      },
    });
    const thread = await hooked(await newWorld(), { model, includeChat: false }, [forbids]);

    expect(await thread.send("My password")).toMatchObject({ stop_code: "hook_blocked", completed: false });
    expect(asked).toHaveLength(0);
    expect(await listed(thread)).toEqual(["user: My password", "assistant: Not that."]);
    expect(await thread.send("Hello")).toMatchObject({ final_content: "Hi." });
  });

  it("[HOOK-4] refuses a message that a hook does not let in, and stores nothing", async () => {
    const { model } = talker("Hi.");
    const refuses = hook({
      ...{ id: "refuses", hook: "before_create_message" },
      execute: (_state, message) => {
        if (message.content.includes("spam")) throw new Error("No spam.");
        return message;
      },
    });
    const thread = await hooked(await newWorld(), { model }, [refuses]);
    const state = await thread.state();

    await expect(state.injectMessage({ content: "spam" })).rejects.toThrow("No spam.");
    await state.injectMessage({ content: "news" });
    await thread.send("Hello");

    expect(await listed(thread)).toEqual(["user: news", "user: Hello", "assistant: Hi."]);
  });

  it("[HOOK-5] removes a call that a hook drops, with the message that held nothing else", async () => {
    const { model, asked } = talker(callsTool("peek"), "Done.", "Later.");
    const drops = hook({ id: "drops", hook: "after_tool_call_success", execute: () => null });
    const thread = await hooked(await newWorld(), { model, tools: [peek] }, [drops]);

    expect(await thread.send("Look")).toMatchObject({ final_content: "Done." });
    await thread.send("And?");

    expect(await listed(thread, { includeSilent: true })).toEqual([
      ...["user: Look", "assistant: Done.", "user: And?", "assistant: Later."],
    ]);
    expect(asked[1]?.lines).toEqual(["user: Look"]);
    expect(asked[2]?.lines).toEqual(["user: Look", "assistant: Done.", "user: And?"]);
  });

  it("[HOOK-5] removes one call of several, and leaves the others", async () => {
    const broken = tool({
      name: "broken",
      description: "Fails.",
      execute: () => {
        throw new Error("No");
      },
    });
    const { model, asked } = talker(calls(callsTool("broken"), callsTool("peek")), "Done.");
    const drops = hook({ id: "drops", hook: "after_tool_call_failure", execute: () => null });
    const thread = await hooked(await newWorld(), { model, tools: [peek, broken] }, [drops]);

    await thread.send("Look");

    expect(await listed(thread)).toEqual([
      ...["user: Look", "assistant:  [peek]", "success peek: seen", "assistant: Done."],
    ]);
    expect(asked[1]?.lines).toEqual(["user: Look", "call peek", 'result peek: "seen"']);
  });

  it("[HOOK-6] runs the hooks around a tool in one order, and stores what they make of its result", async () => {
    const seen: string[] = [];
    const notes = (name: string, value: unknown) => {
      seen.push(`${name}: ${value}`);
    };
    const look = tool({
      name: "look",
      description: "Looks.",
      execute: () => {
        notes("execute", "");
        return "raw";
      },
    });
    const hooks = [
      hook({
        ...{ id: "insert", hook: "before_create_message" },
        execute: (_state, message) => {
          notes("before_create_message", inOneLine(message));
          return message;
        },
      }),
      hook({
        ...{ id: "inserted", hook: "after_create_message" },
        execute: (_state, message) => notes("after_create_message", inOneLine(message)),
      }),
      hook({
        ...{ id: "keep", hook: "before_store_tool_result" },
        execute: (_state, _call, result) => {
          notes("before_store_tool_result", result.result);
          return { ...result, result: `${result.result}, kept` };
        },
      }),
      hook({
        ...{ id: "succeeded", hook: "after_tool_call_success" },
        execute: (_state, call, result) => {
          notes("after_tool_call_success", `${call.function.name} ${result.result}`);
          return { ...result, result: `${result.result}, changed` };
        },
      }),
      hook({
        ...{ id: "done", hook: "tool_call_done" },
        execute: (_state, _call, result) => notes("tool_call_done", result.result),
      }),
    ];
    const { model, asked } = talker(callsTool("look"), "Done.");
    const thread = await hooked(await newWorld(), { model, tools: [look] }, hooks);

    await thread.send("Go");

    const around = seen.slice(
      seen.indexOf("execute: "),
      seen.findIndex((line) => line.endsWith("assistant: Done.")),
    );
    expect(around.filter((line) => !line.includes("assistant"))).toEqual([
      ...["execute: ", "tool_call_done: raw", "after_tool_call_success: look raw"],
      "before_store_tool_result: raw, changed",
      "before_create_message: success look: raw, changed, kept",
      "after_create_message: success look: raw, changed, kept",
    ]);
    expect(asked[1]?.lines.at(-1)).toBe('result look: "raw, changed, kept"');
  });

  it("[HOOK-7] keeps what hooks change in a request out of what is stored", async () => {
    const { model, asked } = talker("Hi.");
    const hooks = [
      hook({
        ...{ id: "filters", hook: "filter_messages" },
        execute: (_state, messages) =>
          messages.map((each) => ({ ...each, content: each.content.replace("cat", "dog") })),
      }),
      hook({
        ...{ id: "prefilters", hook: "prefilter_llm_history" },
        execute: (_state, messages) => [...messages, { role: "user", content: "Be brief" }],
      }),
    ];
    const thread = await hooked(await newWorld(), { model }, hooks);

    await thread.send("My cat");

    expect(asked[0]?.lines).toEqual(["user: My dog", "user: Be brief"]);
    expect(await listed(thread)).toEqual(["user: My cat", "assistant: Hi."]);
  });

  it("[HOOK-8] shows a hook the answer before it is stored, and stores what that makes of it", async () => {
    const { model } = talker("I think so.");
    const shouts = hook({
      ...{ id: "shouts", hook: "before_create_message" },
      execute: (_state, message) => ({ ...message, content: message.content.toUpperCase() }),
    });
    const thread = await hooked(await newWorld(), { model }, [shouts]);

    await thread.send("Really?");

    expect(await listed(thread)).toEqual(["user: REALLY?", "assistant: I THINK SO."]);
  });

  it("runs hooks around the change of a message", async () => {
    const { model } = talker("Hi.");
    const seen: unknown[] = [];
    const hooks = [
      hook({
        ...{ id: "changes", hook: "before_update_message" },
        execute: (_state, id, updates) => {
          seen.push(id);
          return { ...updates, content: `${updates.content}!` };
        },
      }),
      hook({
        ...{ id: "changed", hook: "after_update_message" },
        execute: (_state, message) => {
          seen.push(message.content);
        },
      }),
    ];
    const thread = await hooked(await newWorld(), { model }, hooks);
    await thread.send("Hello");
    const [message] = await stored(thread);

    await (await thread.state()).updateMessage(message?.id ?? "", { content: "Bye" });

    expect(await listed(thread)).toEqual(["user: Bye!", "assistant: Hi."]);
    expect(seen).toEqual([message?.id, "Bye!"]);
  });

  it("tells a hook that a call begins, before the tool runs", async () => {
    const seen: string[] = [];
    const look = tool({ name: "look", description: "Looks.", execute: () => void seen.push("ran") });
    const begins = hook({
      ...{ id: "begins", hook: "tool_call_started" },
      execute: (_state, call) => void seen.push(call.function.name),
    });
    const { model } = talker(callsTool("look"), "Done.");
    const thread = await hooked(await newWorld(), { model, tools: [look] }, [begins]);

    await thread.send("Go");

    expect(seen).toEqual(["look", "ran"]);
  });

  it("tells hooks of a new thread once, before anything runs on it", async () => {
    const seen: string[] = [];
    const born = hook({
      ...{ id: "born", hook: "after_thread_created" },
      execute: async (state) => {
        seen.push("born");
        await state.setValue("greeting", "Hello");
      },
    });
    const { model } = talker(() => {
      seen.push("asked");
      return "Hi.";
    });
    const thread = await hooked(await newWorld(), { model }, [born]);

    await thread.send("One");
    await thread.send("Two");

    expect(seen).toEqual(["born", "asked", "asked"]);
    expect(await (await thread.state()).getValue("greeting")).toBe("Hello");
  });
});
