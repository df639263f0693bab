// Promise: a secret is known to whoever runs the tool, and to the caller who gets the value back in memory. What is stored,
// streamed, logged, shown to models, reported and exported never has it.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { UnknownMap } from "../src/contracts/json.ts";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { effect } from "../src/threads/definitions/effect.ts";
import { endpoint } from "../src/threads/definitions/endpoint.ts";
import { hook } from "../src/threads/definitions/hook.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { type Tool, type ToolDefinition, tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { openMortal } from "./mortal-runtime.ts";
import { createScene } from "./secrets/scene.ts";
import { helperOf } from "./standard-agents/open-agents.ts";

const accepted = { decision: "accepted" } as const;

/** A tool that keeps what it was given to itself. */
function keeping(
  name: string,
  execute: (input: UnknownMap) => unknown,
  more: Partial<ToolDefinition> = {},
): { readonly tool: Tool; readonly got: unknown[] } {
  const got: unknown[] = [];
  const made = tool({
    name,
    description: "Does something with a secret.",
    ...more,
    execute: (input: UnknownMap) => {
      got.push(input);
      return execute(input);
    },
  } as ToolDefinition);
  return { tool: made, got };
}

/** What the calls came to, as the thread has it. */
async function results(thread: ThreadHandle): Promise<readonly unknown[]> {
  return (await thread.messages()).flatMap(({ message: { type, payload } }) =>
    type === "tool_result" ? [payload.success === true ? payload.result : payload.error] : [],
  );
}

eachDatabase((newWorld, database) => {
  it("is looked for where it would be found", async () => {
    const scene = createScene(await newWorld());
    const said = scene.plant("said");
    const model = scene.speaking(callsTool("client/asks", {}), () => {
      console.log("Printed:", said);
      process.stderr.write(`Written: ${said}\n`);
      return says(`You said ${said}.`);
    });
    const asks = tool({ name: "client/asks", description: "Asks." });
    const throws = () => {
      throw new Error("Broken.", { cause: { deep: [said] } });
    };
    const endpoints = [endpoint({ path: "broken", handler: throws })];
    const holdfast = await scene.open(agent({ slug: "clerk", model, tools: [asks] }), { endpoints });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    const { waiting_for } = await thread.send(`It is ${said}.`);
    await holdfast.requests.submit(waiting_for?.request_id ?? "", { result: said });
    await thread.wait();
    const path = "broken";
    await holdfast.endpoints.call({ threadId: thread.id, path, request: new Request("http://localhost/broken") });
    const files = database === "sqlite" ? ["database files"] : [];
    expect(Object.keys(await scene.leaks(holdfast))).toEqual(
      expect.arrayContaining([
        ...["table messages", "table requests", "table runs", ...files],
        ...["audit export", "export", "messages", "requests", "runs", "session", "stream"],
        ...["error reports", "printed", "requests to models"],
      ]),
    );
  });

  describe("in the arguments of a call", () => {
    it("is cleaned out of the text that the tool returns, and of what it throws, causes included", async () => {
      const scene = createScene(await newWorld());
      const [first, second, third] = [scene.plant("told"), scene.plant("thrown"), scene.plant("caused")];
      const tells = keeping("shop/tells", ({ password }) => `Logged in with ${password}.`);
      const throws = keeping("shop/throws", ({ api_key }) => {
        throw new Error(`Refused ${api_key}.`, { cause: new Error(`It was ${api_key}.`) });
      });
      const marked = keeping("shop/marked", ({ pin }) => ({ status: "error", error: { message: `Not ${pin}.` } }), {
        inputSchema: z.object({ pin: z.string().meta({ sensitive: true }) }) as never,
      });
      const model = scene.speaking(
        calls(
          callsTool("shop/tells", { user: "anna", password: first }),
          callsTool("shop/throws", { api_key: second }),
          callsTool("shop/marked", { pin: third }),
        ),
        says("Done."),
      );
      const holdfast = await scene.open(agent({ slug: "clerk", model, tools: [tells.tool, throws.tool, marked.tool] }));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      scene.hear("what the send came to", await thread.send("Go."));

      expect([tells.got, throws.got, marked.got]).toEqual([
        [{ user: "anna", password: first }],
        [{ api_key: second }],
        [{ pin: third }],
      ]);
      expect(await results(thread)).toEqual([
        "Logged in with [redacted].",
        "Refused [redacted].",
        { status: "error", error: { message: "Not [redacted]." } },
      ]);
      expect(await scene.leaks(holdfast)).toEqual({});
    });

    it("is hidden wherever it stands: nested, in lists, in what a schema complains about and in what is queued", async () => {
      const scene = createScene(await newWorld());
      const [deep, listed, refused, queued, said, told] = ["deep", "listed", "refused", "queued", "said", "told"].map(
        scene.plant,
      ) as [string, string, string, string, string, string];
      const echoes = keeping("shop/echoes", (input) => input);
      const strict = keeping("shop/strict", () => "never", {
        inputSchema: z.object({
          token: z.string().refine(() => false, { error: ({ input }) => `${String(input)} is too weak` }),
        }) as never,
      });
      const outer = tool({
        name: "shop/outer",
        description: "Leaves things behind.",
        execute: async ({ token, secret }: UnknownMap, context) => {
          context.queueTool("shop/echoes", { token: queued });
          context.queueMessage(`Mind ${String(token)}.`);
          context.state.emit("news", { of: `It is ${String(secret)}` });
        },
      });
      const model = scene.speaking(
        calls(
          callsTool("shop/echoes", {
            account: { credentials: { user: "anna", key: deep } },
            all: [{ cookie: listed }],
          }),
          callsTool("shop/strict", { token: refused }),
          callsTool("shop/outer", { token: said, secret: told }),
        ),
        says("Done."),
        says("Done."),
        says("Done."),
      );
      const holdfast = await scene.open(agent({ slug: "clerk", model, tools: [echoes.tool, strict.tool, outer] }));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      await thread.send("Go.");
      await thread.wait();
      expect(echoes.got).toEqual([
        { account: { credentials: { user: "anna", key: deep } }, all: [{ cookie: listed }] },
        { token: queued },
      ]);
      expect((await results(thread))[1]).toContain("[redacted] is too weak");
      expect(await scene.leaks(holdfast)).toEqual({});
    });

    it("is sealed while somebody is asked, handed to whoever runs the tool, and gone afterwards", async () => {
      const scene = createScene(await newWorld());
      const [approved, asked, failed, proposed] = ["approved", "asked", "failed", "proposed"].map(scene.plant) as [
        string,
        string,
        string,
        string,
      ];
      const edited = scene.plant("edited");
      const pays = keeping("shop/pays", ({ token }) => `Paid with ${token}.`, { actionPolicy: "preview" });
      const proposes = keeping("shop/proposes", () => ({
        type: "approval_required",
        role: "assistant",
        content: "May I?",
        payload: {
          action_id: "a-1",
          kind: "payment",
          summary: `Pay with ${proposed}`,
          preview: { token: proposed },
          apply_input: { token: proposed },
        },
      }));
      const client = tool({ name: "client/pays", description: "Pays." });
      const model = scene.speaking(
        callsTool("shop/pays", { token: approved }),
        callsTool("shop/pays", { token: scene.plant("replaced") }),
        callsTool("client/pays", { token: asked }),
        callsTool("client/pays", { token: failed }),
        callsTool("shop/proposes", { secret: proposed }),
        says("Done."),
      );
      const tools = [pays.tool, client, proposes.tool];
      const holdfast = await scene.open(agent({ slug: "clerk", model, tools }));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      const waits = async (outcome: Awaited<ReturnType<ThreadHandle["wait"]>>) => {
        await scene.look();
        scene.hear("what the send came to", outcome);
        const id = outcome?.waiting_for?.request_id ?? "";
        return { id, whole: JSON.stringify(await holdfast.requests.open(id)) };
      };
      const holds = (secret: string) => JSON.stringify(secret).slice(1, -1);

      const first = await waits(await thread.send("Go."));
      expect(first.whole).toContain(holds(approved));
      scene.hear("approvals while they wait", await holdfast.approvals.list());
      await holdfast.requests.submit(first.id, accepted);
      const changed = await waits(await thread.wait());
      await holdfast.requests.submit(changed.id, { ...accepted, parameters: { token: edited } });
      const second = await waits(await thread.wait());
      expect(pays.got).toEqual([{ token: approved }, { token: edited }]);
      expect(second.whole).toContain(holds(asked));
      const answer = { result: { receipt: `for ${asked}`, refresh_token: scene.plant("brought") } };
      const submitted = await holdfast.requests.submit(second.id, answer);
      scene.hear("what the submit came to", submitted);
      expect(await holdfast.requests.submit(second.id, answer)).toMatchObject({ outcome: "repeated" });
      const third = await waits(await thread.wait());
      await holdfast.requests.submit(third.id, { error: `No money on ${failed}.` });
      const fourth = await waits(await thread.wait());
      expect(fourth.whole).toContain(holds(proposed));
      await holdfast.requests.submit(fourth.id, { ...accepted, result: { password: scene.plant("applied") } } as never);
      expect(await thread.wait()).toMatchObject({ final_content: "Done." });

      expect(await results(thread)).toEqual([
        ...["Paid with [redacted].", "Paid with [redacted]."],
        { receipt: "for [redacted]", refresh_token: "[redacted]" },
        "No money on [redacted].",
        { password: "[redacted]" },
      ]);
      expect(await scene.world.sql("select sealed from requests where sealed is not null")).toEqual([]);
      expect(await scene.leaks(holdfast)).toEqual({});
    });
  });

  describe("in a result", () => {
    it("is hidden where a key or the output schema tells that it is one, and wherever else the result repeats it", async () => {
      const scene = createScene(await newWorld());
      const [key, token, cookie, card, list, whole] = ["key", "token", "cookie", "card", "list", "whole"].map(
        scene.plant,
      ) as [string, string, string, string, string, string];
      const keys = keeping("shop/keys", () => ({
        api_key: key,
        note: `Use ${key}.`,
        nested: { deep: [{ token, name: "one" }] },
        headers: new Map(),
        made: { toJSON: () => ({ "set-cookie": cookie }) },
      }));
      const marked = keeping("shop/marked", () => ({ card, others: [{ number: list, of: "anna" }] }), {
        outputSchema: z.object({
          card: z.string().meta({ secret: true }),
          others: z.array(z.object({ number: z.string().meta({ format: "password" }), of: z.string() })),
        }),
      });
      const entire = keeping("shop/entire", () => whole, { outputSchema: z.string().meta({ sensitive: true }) });
      const inForm = keeping("shop/in-form", () => ({
        success: true,
        result: { password: token, plain: 1 },
        metadata: { bearer: token },
      }));
      const names = ["keys", "marked", "entire", "in-form"];
      const model = scene.speaking(calls(...names.map((name) => callsTool(`shop/${name}`))), says("Done."));
      const tools = [keys.tool, marked.tool, entire.tool, inForm.tool];
      const holdfast = await scene.open(agent({ slug: "clerk", model, tools }));
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      await thread.send("Go.");
      expect(await results(thread)).toEqual([
        {
          api_key: "[redacted]",
          note: "Use [redacted].",
          nested: { deep: [{ token: "[redacted]", name: "one" }] },
          headers: {},
          made: { "set-cookie": "[redacted]" },
        },
        { card: "[redacted]", others: [{ number: "[redacted]", of: "anna" }] },
        "[redacted]",
        { password: "[redacted]", plain: 1 },
      ]);
      expect(await scene.leaks(holdfast)).toEqual({});
    });

    it("is hidden whoever brings it: an executor of the host, the look back after a crash, an operator", async () => {
      const world = await newWorld();
      const scene = createScene(world);
      const [named, found, argument, settled] = ["named", "found", "argument", "settled"].map(scene.plant) as [
        string,
        string,
        string,
        string,
      ];
      const vault = tool({
        name: "shop/vault",
        description: "Asks the vault.",
        runtime: { executor_target: "vault" },
        execute: () => "never",
      });
      const hangs = (more: Partial<ToolDefinition>) =>
        tool({ name: "shop/hangs", description: "Hangs.", ...more, execute: () => new Promise(() => {}) });
      const of = (slug: string, hanging: Tool) =>
        agent({
          slug,
          model: scene.speaking(
            calls(callsTool("shop/vault", { token: named }), callsTool("shop/hangs", { password: argument })),
            says("Done."),
            says("Done."),
          ),
          tools: [vault, hanging],
          namedToolExecutors: {
            vault: ({ parameters }: { parameters: UnknownMap }) => ({
              secret: "hidden",
              of: `key ${parameters.token}`,
            }),
          },
        });
      const known = of(
        "known",
        hangs({ reconcile: () => ({ status: "done", result: { of: argument, token: found } }) }),
      );
      const unknown = of("unknown", hangs({}));
      for (const dying of [known, unknown]) {
        let begun = 0;
        const isSecond = (point: string) => point === "before effect run_tool" && ++begun === 2;
        const mortal = await openMortal(world, [dying], isSecond);
        const { slug } = dying;
        await (await mortal.threads.open(slug, { agent: slug })).queueMessage("Go.");
        await mortal.died;
        await scene.look();
      }
      const holdfast = await scene.open([known, unknown]);
      const one = await holdfast.threads.open("known", { agent: "known" });
      const other = await holdfast.threads.open("unknown", { agent: "unknown" });
      await one.wait();
      await other.wait();
      expect(await results(one)).toEqual([
        { secret: "[redacted]", of: "key [redacted]" },
        { of: "[redacted]", token: "[redacted]" },
      ]);
      const [call] = await holdfast.calls.unknown();
      expect(call).toMatchObject({ thread_id: other.id });
      if (call) await holdfast.calls.settle(call, { result: { session_id: settled, of: `the ${settled}` } });
      await scene.look();
      await other.send("And?");
      expect((await results(other))[1]).toEqual({ session_id: "[redacted]", of: "the [redacted]" });
      expect(await scene.leaks(holdfast)).toEqual({});
    });
  });

  it("in the environment, of whomever, is hidden in what comes of the calls that read it, and of those that only quote it", async () => {
    const scene = createScene(await newWorld());
    const [house, user, own, set, declared] = ["house", "user", "own", "set", "declared"].map(scene.plant) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const reads = (name: string, variable: string) =>
      tool({
        name,
        description: "Reads.",
        execute: async (_input, { state }) => `It is ${await state.env(variable)}.`,
      });
    const tools = [
      reads("reads_house", "HOUSE"),
      reads("reads_user", "USER_KEY"),
      reads("reads_own", "OWN"),
      tool({
        name: "sets",
        description: "Sets.",
        execute: async (_input, { state }) => {
          await state.setEnv("SET", set);
          throw new Error(`Now it is ${set}, and there is ${state.instanceEnv("HOUSE")}.`);
        },
      }),
      tool({
        name: "quotes",
        description: "Knows it from elsewhere.",
        variables: [{ name: "DECLARED" }],
        execute: () => `Nobody has read ${declared}.`,
      }),
    ];
    const names = ["reads_house", "reads_user", "reads_own", "sets", "quotes"];
    const model = scene.speaking(calls(...names.map((name) => callsTool(name))), says("Done."));
    const holdfast = await scene.open(helperOf({ model, tools }), {
      env: { HOUSE: house, DECLARED: declared },
      userEnv: async () => ({ USER_KEY: user }),
    });
    const thread = await holdfast.threads.open("t", { agent: "helper", user: "anna", env: { OWN: own } });
    await thread.send("Go.");
    expect(await results(thread)).toEqual([
      ...["It is [redacted].", "It is [redacted].", "It is [redacted]."],
      ...["Now it is [redacted], and there is [redacted].", "Nobody has read [redacted]."],
    ]);
    expect(await scene.leaks(holdfast)).toEqual({});
  });

  it("in a header is hidden in errors that quote all of it, or only what follows its scheme or its name", async () => {
    const scene = createScene(await newWorld());
    const [bearer, session, asked] = ["bearer", "session", "asked"].map(scene.plantPlain) as [string, string, string];
    const fetches = keeping("web/fetches", ({ headers }) => {
      const { authorization = "", cookie = "" } = headers as Record<string, string>;
      const answered = Object.assign(new Error(`401 for ${authorization.slice(7)}`), { response: { headers } });
      throw new Error(`${answered.message} and ${cookie.split("=")[1]?.split(";")[0]}`, { cause: answered });
    });
    const model = scene.speaking(
      callsTool("web/fetches", {
        headers: { authorization: `Bearer ${bearer}`, cookie: `sid=${session}; theme=dark` },
      }),
      says("Done."),
    );
    const handler = (request: Request) => {
      const { headers } = request;
      const cause = Object.assign(new Error(`Not ${headers.get("authorization")}`), {
        request: { headers: [...headers] },
      });
      throw new Error(`No entry for ${headers.get("authorization")?.slice(7)}.`, { cause });
    };
    const endpoints = [endpoint({ path: "guarded", handler })];
    const holdfast = await scene.open(agent({ slug: "clerk", model, tools: [fetches.tool] }), { endpoints });
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Go.");
    expect(await results(thread)).toEqual(["401 for [redacted] and [redacted]"]);
    const request = new Request("http://localhost/guarded", { headers: { authorization: `Bearer ${asked}` } });
    const response = await holdfast.endpoints.call({ threadId: thread.id, path: "guarded", request });
    scene.hear("response", [response.status, await response.text()]);
    expect(await scene.leaks(holdfast)).toEqual({});
  });

  it("that code hands on, decides with or ends a session with is hidden where others are told of it", async () => {
    const scene = createScene(await newWorld());
    const [inner, given, ended, decided, replaced] = ["inner", "given", "ended", "decided", "replaced"].map(
      scene.plant,
    ) as [string, string, string, string, string];
    const issues = keeping("issues", ({ password }) => ({ access_token: inner, of: password }));
    const tools = [
      issues.tool,
      tool({
        name: "uses",
        description: "Uses another tool.",
        execute: async (_input, { state }) => {
          const { result } = await state.invokeTool("issues", { password: given });
          const { access_token, of } = result as { access_token: string; of: string };
          return `Got ${access_token} for ${of}.`;
        },
      }),
      tool({ name: "decided", description: "Never runs.", execute: () => "never" }),
      tool({
        name: "ends",
        description: "Ends.",
        execute: async ({ token }: UnknownMap, { state }) => {
          state.stopSession({ result: `Ended with ${String(token)}.` });
          return "ending";
        },
      }),
    ];
    const model = scene.speaking(
      calls(callsTool("uses"), callsTool("decided", { secret: decided }), callsTool("ends", { token: ended })),
    );
    const preToolMediator = ({ tool_name }: { tool_name: string }) =>
      tool_name.endsWith("decided")
        ? { action: "replace_result", result: { success: true, result: { api_key: replaced, of: `for ${decided}` } } }
        : null;
    const holdfast = await scene.open(helperOf({ model, tools }, { preToolMediator: preToolMediator as never }));
    const thread = await holdfast.threads.open("t", { agent: "helper" });
    const outcome = await thread.send("Go.");
    scene.hear("what the send came to", outcome);
    expect(issues.got).toEqual([{ password: given }]);
    expect(await results(thread)).toEqual([
      "Got [redacted] for [redacted].",
      { api_key: "[redacted]", of: "for [redacted]" },
      "ending",
    ]);
    expect(outcome.session).toMatchObject({ text: "Ended with [redacted]." });
    expect(await scene.leaks(holdfast)).toEqual({});
  });

  it("that is a word of the runtime's own changes nothing that was decided, queued or returned", async () => {
    const world = await newWorld();
    const ran: unknown[] = [];
    const doing = (name: string, execute: NonNullable<Tool["execute"]>, more: object = {}) =>
      tool({
        ...{ name, description: "Does it.", ...more },
        execute: (...given) => {
          ran.push(name);
          return execute(...given);
        },
      });
    const tools = [
      doing("never", () => "never"),
      doing("queues", (_input, context) => context.queueMessage("A message."), { repeatable: true }),
      doing("tells", () => ({ status: "success", result: { success: "yes" } })),
      doing("asks", () => "done", { actionPolicy: "preview" }),
    ];
    const model = createScene(world).speaking(
      calls(
        callsTool("never", { password: "reject" }),
        callsTool("queues", { password: "message", token: "content" }),
        callsTool("tells", { password: "success", token: "result" }),
        callsTool("asks", { password: "accepted", token: "decision" }),
      ),
      says("Done."),
      says("Done."),
    );
    const preToolMediator = ({ tool_name }: { tool_name: string }) =>
      tool_name.endsWith("never") ? { action: "reject", error: "Not now." } : null;
    const holdfast = await world.open(helperOf({ model, tools }, { preToolMediator: preToolMediator as never }));
    const thread = await holdfast.threads.open("t", { agent: "helper" });
    const { waiting_for } = await thread.send("Go.");
    await holdfast.requests.submit(waiting_for?.request_id ?? "", accepted);
    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["queues", "tells", "asks"]);
    expect(await results(thread)).toMatchObject(["Not now.", {}, { success: "yes" }, "done"]);
    expect(JSON.stringify(await thread.messages())).toContain("A [redacted].");
  });

  describe("in an error", () => {
    it("of a model is hidden where the run tells of it", async () => {
      const scene = createScene(await newWorld());
      const [house, given] = [scene.plant("house"), scene.plant("given")];
      const login = keeping("shop/login", () => "in");
      const model = scene.speaking(callsTool("shop/login", { password: given }), () => {
        throw Object.assign(new Error(`The provider refused ${house}.`, { cause: new Error(`Since ${given}`) }), {
          code: `E-${given}`,
          name: `Error of ${house}`,
        });
      });
      const holdfast = await scene.open(agent({ slug: "clerk", model, tools: [login.tool], retry: { attempts: 1 } }), {
        env: { API_KEY: house },
      });
      const thread = await holdfast.threads.open("t", { agent: "clerk" });
      const outcome = await thread.send("Go.");
      scene.hear("what the send came to", outcome);
      expect(outcome).toMatchObject({ status: "failed", failure: { message: "The provider refused [redacted]." } });
      expect(await scene.leaks(holdfast)).toEqual({});
    });

    it("of a hook or an effect is hidden where it is reported, and in what hooks make of results", async () => {
      const scene = createScene(await newWorld());
      const [token, hooked, blocked, scheduled] = ["token", "hooked", "blocked", "scheduled"].map(scene.plant) as [
        string,
        string,
        string,
        string,
      ];
      const login = keeping("login", () => "in");
      const schedules = tool({
        name: "schedules",
        description: "Schedules.",
        execute: async (_input, { state }) => void (await state.scheduleEffect("fails", { password: scheduled })),
      });
      const hooks = [
        hook({
          id: "adds",
          hook: "after_tool_call_success",
          execute: async (state, _call, result) => ({ ...result, result: `with ${await state.env("HOOKED")}` }),
        }),
        hook({
          id: "fails",
          hook: "tool_call_done",
          execute: async (state) => {
            throw new Error(`It is ${await state.env("HOOKED")}`, { cause: { headers: { authorization: token } } });
          },
        }),
        hook({
          id: "blocks",
          hook: "prefilter_llm_history",
          execute: async (state, messages) => {
            if (messages.length < 8) return;
            throw Object.assign(new Error(`Not with ${await state.env("BLOCKED")}`), { block: true });
          },
        }),
      ];
      const effects = [
        effect({
          name: "fails",
          description: "Fails.",
          handler: async (state, args) => {
            const { password } = args as { password: string };
            throw new Error(`Not with ${password} and ${await state.env("HOOKED")}`);
          },
        }),
      ];
      const model = scene.speaking(
        calls(callsTool("login", { token }), callsTool("schedules")),
        says("Once."),
        says("Twice."),
        says("Thrice."),
        says("Four times."),
      );
      const given = { model, tools: [login.tool, schedules], hooks: hooks.map(({ id }) => id) };
      const holdfast = await scene.open(helperOf(given), { hooks, effects });
      const env = { HOOKED: hooked, BLOCKED: blocked };
      const thread = await holdfast.threads.open("t", { agent: "helper", env });
      for (const sent of ["One.", "Two.", "Three."]) scene.hear("what the send came to", await thread.send(sent));
      const ended = async () => (await thread.effects.list()).every(({ status }) => status === "failed");
      while (!(await ended())) await new Promise(setImmediate);
      expect((await thread.effects.list())[0]?.error).toBe("Not with [redacted] and [redacted]");
      expect(await results(thread)).toEqual(["with [redacted]", "with [redacted]"]);
      expect(JSON.stringify(await thread.messages())).toContain("Not with [redacted]");
      expect(await scene.leaks(holdfast)).toEqual({});
    });
  });
});
