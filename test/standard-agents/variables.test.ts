// Variables: what switches subagents on, what children inherit, and what they wait for until somebody sets it. What is a
// secret is nowhere to be read.
import { describe, expect, it } from "vitest";
import type { Holdfast } from "../../src/holdfast.ts";
import { calls, callsTool } from "../../src/models/scripted/scripted-model.ts";
import type { PromptPart } from "../../src/threads/definitions/prompt.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel } from "../held.ts";
import { openMortal } from "../mortal-runtime.ts";
import { actor, creates, finishes, history, lead, onlyChild, results, staying, worker } from "./team.ts";

const SECRET = "s3cr3t-of-the-house";

const token = { name: "TOKEN", type: "secret", required: true, scoped: true, description: "Of the bank." } as const;
const region = { name: "REGION", type: "text", required: true, scoped: true } as const;

/** Keeps what it read of the environment to itself. */
function reader(name: string) {
  const read: string[] = [];
  const peek = tool({
    name: "peek",
    description: "Uses a variable.",
    execute: async (_input, { state }) => {
      read.push(await state.env(name).catch(() => "missing"));
      return "used";
    },
  });
  return { peek, read };
}

/** What a call was refused with. */
async function refusal(thread: ThreadHandle, index = 0) {
  const payloads = (await thread.messages()).flatMap(({ message }) =>
    message.type === "tool_result" ? [message.payload] : [],
  );
  const { success, metadata } = payloads[index] ?? {};
  return { success, ...(metadata as { error_code?: string; error_data?: Record<string, unknown> }) };
}

const requestIn = ({ error_data }: Awaited<ReturnType<typeof refusal>>) => String(error_data?.request_id);

/** Whatever anybody may read of all threads, in one text. */
async function readable({ threads }: Holdfast): Promise<string> {
  const all = [];
  for (const { id } of await threads.list()) {
    const thread = await threads.get(id);
    const views = [thread.export(), thread.logs(), thread.messages(), thread.session(), thread.calls(), thread.runs()];
    all.push(await Promise.all(views), await history(thread), await thread.children());
  }
  return JSON.stringify(all);
}

eachDatabase((newWorld) => {
  it("48 [SUB-4, VAR-6] a subagent with a flag is offered only where the flag is on, and checked again when called", async () => {
    const world = await newWorld();
    const values = ["YES", " 1 ", "true", "on", "", "0", "truely"];
    const offered: Record<string, boolean> = {};
    const boss = actor(({ tools, lines }) => {
      const value = String(lines[0]).slice("user: ".length);
      if (lines.length === 1) offered[value] = tools.includes("subagent_create");
      return lines.length === 1 ? creates() : "Done.";
    });
    const holdfast = await world.open([
      lead(boss.model, [staying("worker", { optional: "WITH_HELP" })]),
      worker(actor(finishes("Done.")).model),
    ]);
    for (const value of values) {
      const thread = await holdfast.threads.open(`t${value}`, { agent: "lead", env: { WITH_HELP: value } });
      await thread.send(value);
      expect(await thread.children()).toHaveLength(offered[value] ? 1 : 0);
      expect((await results(thread))[0]).toMatchObject({ tool_status: offered[value] ? "success" : "error" });
    }
    const none = await holdfast.threads.open("none", { agent: "lead" });
    await none.send("unset");
    expect(offered).toEqual({
      ...{ YES: true, " 1 ": true, true: true, on: false, "": false, "0": false, truely: false, unset: false },
    });
  });

  it("49 [SUB-23, SUB-27, RUN-8] children that are there without being asked for are there before the first request", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const entries = (name: string) => [staying(name, { immediate: true })];
    const holdfast = await world.open([
      lead(boss.model, entries("outer")),
      worker(actor("x").model, { name: "outer", tools: entries("inner") }),
      worker(actor("y").model, { name: "inner" }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const [outer] = await thread.children();
    expect(outer).toMatchObject({ name: "outer", status: "idle" });
    const [inner] = await (await holdfast.threads.get(outer?.reference ?? "")).children();
    expect(inner).toMatchObject({ name: "inner", status: "idle" });

    const sent = thread.send("Go.");
    const asked = await boss.next();
    expect(Object.keys(asked.options.tools)).toContain("standard/subagent_message");
    expect(await holdfast.threads.list()).toHaveLength(3);
    asked.answer("Done.");
    await sent;
    await holdfast.threads.open("t", { agent: "lead" });
    await holdfast.close();
    const again = await world.open([
      lead(actor("Again.").model, entries("outer")),
      worker(actor("x").model, { name: "outer", tools: entries("inner") }),
      worker(actor("y").model, { name: "inner" }),
    ]);
    await (await again.threads.open("t", { agent: "lead" })).send("Once more.");
    expect(await again.threads.list()).toHaveLength(3);
  });

  it("[SUB-25, SUB-26] values that are kept for children make one each, and are gone from the parent", async () => {
    const world = await newWorld();
    const boss = actor("Done.");
    const { peek, read } = reader("TOKEN");
    const child = actor(({ lines }) => (lines.includes("call peek") ? finishes("Done.") : callsTool("peek")));
    const immediate = { nameEnv: "ACCOUNT", descriptionEnv: "TASK", scopedEnv: ["TOKEN"] };
    const entry = staying("worker", { immediate, blocking: false, resumable: { maxInstances: 2 } });
    const holdfast = await world.open([
      lead(boss.model, [entry]),
      worker(child.model, { tools: [peek], prompt: { variables: [token] } }),
    ]);
    const env = {
      ...{ ACCOUNT: "North", TASK: "Look north.", TOKEN: "north-token" },
      ...{ ACCOUNT__2: "South", TASK__2: "Look south.", TOKEN__2: "south-token", ACCOUNT__3: "West" },
    };
    const thread = await holdfast.threads.open("t", { agent: "lead", env });
    for (const { reference } of await thread.children()) await (await holdfast.threads.get(reference)).wait();

    expect((await thread.children()).map(({ threadName }) => threadName)).toEqual(["North", "South"]);
    expect(child.shown.map(({ lines }) => lines[0]).sort()).toEqual([
      "user: Look north.",
      "user: Look north.",
      "user: Look south.",
      "user: Look south.",
    ]);
    expect([...read].sort()).toEqual(["north-token", "south-token"]);
    const state = await thread.state();
    for (const gone of ["TOKEN", "TOKEN__2", "ACCOUNT", "TASK__2"]) {
      await expect(state.env(gone)).rejects.toMatchObject({ code: "variable_missing" });
    }
    expect(await state.env("ACCOUNT__3")).toBe("West");
    expect(JSON.stringify(child.shown)).not.toContain("-token");
  });

  it("50 [VAR-10, VAR-11, VAR-12, VAR-13, VAR-14] a child that lacks a variable is created once somebody sets it", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const { peek, read } = reader("TOKEN");
    const child = actor(callsTool("peek"), finishes("Paid."));
    const holdfast = await world.open([
      lead(boss.model, [staying("worker")]),
      worker(child.model, { tools: [peek], prompt: { variables: [token, region], env: { REGION: "north" } } }),
    ]);
    const thread = await holdfast.threads.open("t", {
      agent: "lead",
      env: { TOKEN: "of the parent, which does not count" },
    });
    await (await thread.state()).writeFile("/attachments/bill.txt", "7");
    const sent = thread.send("Go.");
    (await boss.next()).answer(creates({ message: "Pay.", attachments: ["/attachments/bill.txt"], name: "Payer" }));
    (await boss.next()).answer("Somebody has to set it.");
    await sent;

    const refused = await refusal(thread);
    const requestId = requestIn(refused);
    expect(refused).toMatchObject({
      success: false,
      error_code: "subagent_env_required",
      error_data: {
        request_id: requestId,
        endpoint: `/threads/${thread.id}/variables/${requestId}`,
        required: ["TOKEN", "REGION"],
        missing: ["TOKEN"],
        agent: "worker",
      },
    });
    expect(await thread.children()).toEqual([]);
    const { variables } = holdfast;
    const pending = {
      request_id: requestId,
      parent_thread_id: thread.id,
      missing: ["TOKEN"],
      required: ["TOKEN", "REGION"],
    };
    expect(await variables.get(thread.id, requestId)).toEqual({
      ...{ ...pending, agent_name: "worker", registry_agent_name: "worker" },
    });
    await expect(variables.get(thread.id, "no-such")).rejects.toMatchObject({ code: "variable_request_not_found" });
    await expect(variables.get(crypto.randomUUID(), requestId)).rejects.toMatchObject({
      ...{ code: "variable_request_not_found" },
    });
    await expect(variables.submit(thread.id, requestId, { env: {} })).rejects.toMatchObject({
      code: "variables_missing",
    });
    await expect(variables.submit(thread.id, requestId, { env: { TOKEN: null } })).rejects.toMatchObject({
      ...{ code: "variables_missing" },
    });
    await expect(variables.submit(thread.id, requestId, { env: [] as never })).rejects.toMatchObject({
      ...{ code: "invalid_variables" },
    });
    expect(await variables.get(thread.id, requestId)).toMatchObject(pending);

    // What the parent does with its file in the meantime does not concern the child any more.
    await (await thread.state()).unlinkFile("/attachments/bill.txt");
    const submitted = await variables.submit(thread.id, requestId, { env: { TOKEN: SECRET } });
    const only = await onlyChild(holdfast, thread);
    expect(submitted).toEqual({ request_id: requestId, child_thread_id: only.reference, status: "success" });
    const told = await boss.next();
    expect(told.shown.at(-1)).toContain("Paid.");
    told.answer("Thanks.");
    expect(await thread.wait()).toMatchObject({ run: 2 });
    expect(only).toMatchObject({ threadName: "Payer" });
    expect(child.shown[0]?.lines.at(-1)).toBe("user: Pay.");
    expect(read).toEqual([SECRET]);
    const [bill] = await (await only.thread.state()).findFiles("/attachments/*");
    expect(bill).toMatchObject({ name: "bill.txt", size: 1 });
    await expect(variables.submit(thread.id, requestId, { env: { TOKEN: "x" } })).rejects.toMatchObject({
      ...{ code: "variable_request_not_found" },
    });

    expect(await world.everything()).not.toContain(SECRET);
    expect(await readable(holdfast)).not.toContain(SECRET);
  });

  it("[VAR-9, D9] what the child's own definitions, its user or this installation have is not missing", async () => {
    const world = await newWorld();
    const names = ["OF_PROMPT", "OF_AGENT", "OF_USER", "OF_HERE"];
    const read: string[] = [];
    const peek = tool({
      name: "peek",
      description: "Uses variables.",
      execute: async (_input, { state }) => {
        for (const name of names) read.push(await state.env(name));
        return "used";
      },
    });
    const variables = names.map((name) => ({ ...token, name }));
    const holdfast = await world.open(
      [
        lead(actor(creates(), "Done.").model, [staying("worker")]),
        worker(actor(callsTool("peek"), finishes("Done.")).model, {
          tools: [peek],
          env: { OF_AGENT: "agent", OF_USER: "default" },
          prompt: { variables, env: { OF_PROMPT: "prompt", OF_AGENT: "default", OF_HERE: "default" } },
        }),
      ],
      { env: { OF_HERE: "here", OF_USER: "default" }, userEnv: async (user) => ({ OF_USER: `user ${user}` }) },
    );
    const thread = await holdfast.threads.open("t", { agent: "lead", user: "ann" });
    expect(await thread.send("Go.")).toMatchObject({ final_content: "Done." });
    expect((await results(thread))[0]).toMatchObject({ tool_status: "success" });
    expect(read).toEqual(["prompt", "agent", "user ann", "here"]);
  });

  it("[VAR-10, SUB-27] a child that is there without being asked for waits for its variables too, once", async () => {
    const world = await newWorld();
    const agents = [
      lead(actor("Done.").model, [staying("worker", { immediate: true })]),
      worker(actor("Never asked.").model, { prompt: { variables: [token] } }),
    ];
    const holdfast = await world.open(agents);
    const thread = await holdfast.threads.open("t", { agent: "lead", env: { TOKEN: "of the parent" } });
    await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    const [request, ...others] = await holdfast.requests.list({ thread: thread.id, status: "pending" });
    expect(others).toEqual([]);
    expect(request).toMatchObject({ kind: "variables", shown: { agent_name: "worker", missing: ["TOKEN"] } });
    expect(await thread.children()).toEqual([]);
    const told = holdfast.variables.submit(thread.id, request?.id ?? "", { env: { OTHER: SECRET } });
    await expect(told).rejects.toMatchObject({
      code: "variables_missing",
      detail: expect.not.stringContaining(SECRET),
    });
    await holdfast.variables.submit(thread.id, request?.id ?? "", { env: { TOKEN: SECRET } });
    const only = await onlyChild(holdfast, thread);
    expect(await (await only.thread.state()).env("TOKEN")).toBe(SECRET);
    expect(only.status).toBe("idle");
  });

  it("[VAR-10, TERM-3] a terminated parent has no more children, and its requests end with it", async () => {
    const world = await newWorld();
    const holdfast = await world.open([
      lead(actor(creates(), "Waiting.").model, [staying("worker")]),
      worker(actor("Never asked.").model, { prompt: { variables: [token] } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    const requestId = requestIn(await refusal(thread));
    await thread.terminate();
    await expect(holdfast.variables.submit(thread.id, requestId, { env: { TOKEN: SECRET } })).rejects.toMatchObject({
      ...{ code: "variable_request_not_found" },
    });
    expect(await thread.children()).toEqual([]);
    expect(await world.everything()).not.toContain(SECRET);
  });

  it("[VAR-12, VAR-15] of many who set them at once one creates the child, and the others find it done", async () => {
    const world = await newWorld();
    const boss = actor(creates(), "Waiting.", "Thanks.");
    const holdfast = await world.open([
      lead(boss.model, [staying("worker")]),
      worker(actor(finishes("Done.")).model, { prompt: { variables: [token] } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    await thread.send("Go.");
    const requestId = requestIn(await refusal(thread));
    const all = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        holdfast.variables.submit(thread.id, requestId, { env: { TOKEN: index } }),
      ),
    );
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const each of all) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "variable_request_not_found" });
    }
    const only = await onlyChild(holdfast, thread);
    await only.thread.wait();
    await thread.wait();
  });

  it("[COM-11, VAR-14] a child that waited and speaks only by itself tells nothing when it ends, in later sessions neither", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = actor(finishes("One."), finishes("Two."));
    const entry = staying("worker", { resumable: { parentCommunication: "explicit" } });
    const holdfast = await world.open([
      lead(boss.model, [entry]),
      worker(child.model, { prompt: { variables: [token] } }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });
    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    (await boss.next()).answer("Waiting.");
    await sent;
    const { child_thread_id } = await holdfast.variables.submit(thread.id, requestIn(await refusal(thread)), {
      env: { TOKEN: SECRET },
    });
    const only = await holdfast.threads.get(child_thread_id);
    await only.wait();
    await only.send("Once more.");
    expect(child.shown).toHaveLength(2);
    expect(await thread.wait()).toMatchObject({ run: 1 });
    expect(boss.count()).toBe(0);
    expect(await thread.children()).toMatchObject([{ status: "idle", parentCommunication: "explicit" }]);
  });

  it("[VAR-13] a submit that a crash cuts off has created the child, or can be made again", async () => {
    for (const point of ["before submit", "after submit"]) {
      const world = await newWorld();
      const agents = () => [
        lead(actor(({ lines }) => (lines.length === 1 ? creates({ message: "Pay." }) : "Fine.")).model, [
          staying("worker"),
        ]),
        worker(actor(finishes("Paid.")).model, { prompt: { variables: [token] } }),
      ];
      const doomed = await openMortal(world, agents(), (at) => at === point);
      const first = await doomed.threads.open("t", { agent: "lead" });
      await first.send("Go.");
      const requestId = requestIn(await refusal(first));
      void doomed.variables.submit(first.id, requestId, { env: { TOKEN: SECRET } });
      await doomed.died;

      const holdfast = await world.open(agents());
      const thread = await holdfast.threads.get(first.id);
      const submit = () => holdfast.variables.submit(thread.id, requestId, { env: { TOKEN: SECRET } });
      if (point === "before submit") await submit();
      else await expect(submit()).rejects.toMatchObject({ code: "variable_request_not_found" });
      const only = await onlyChild(holdfast, thread);
      await only.thread.wait();
      expect(await thread.wait()).toMatchObject({ run: 2 });
      expect((await history(thread)).filter(({ content }) => content.includes("Paid."))).toHaveLength(1);
    }
  });

  it("[VAR-4, VAR-5, VAR-7, VAR-8] children inherit what is not scoped to them, and follow changes until they have their own", async () => {
    const world = await newWorld();
    const entry = (name: string) => staying(name, { immediate: true });
    const holdfast = await world.open([
      lead(actor("x").model, [entry("outer")]),
      worker(actor("x").model, {
        name: "outer",
        tools: [entry("inner")],
        prompt: { variables: [{ ...token, required: false }] },
      }),
      worker(actor("x").model, { name: "inner" }),
    ]);
    const thread = await holdfast.threads.open("t", {
      ...{ agent: "lead", env: { TOKEN: "of the root", CITY: { value: "Rome", type: "text" } } },
    });
    const outer = (await onlyChild(holdfast, thread)).thread;
    const inner = (await onlyChild(holdfast, outer)).thread;
    const [root, middle, leaf] = [await thread.state(), await outer.state(), await inner.state()];
    const missing = { code: "variable_missing" };

    expect([await middle.env("CITY"), await leaf.env("CITY"), await leaf.envType("CITY")]).toEqual([
      "Rome",
      "Rome",
      "text",
    ]);
    await expect(middle.env("TOKEN")).rejects.toMatchObject(missing);
    await expect(leaf.env("TOKEN")).rejects.toMatchObject(missing);
    await middle.setEnv("TOKEN", "of the middle");
    expect(await leaf.env("TOKEN")).toBe("of the middle");
    await root.setEnv("TOKEN", "changed");
    expect([await root.env("TOKEN"), await leaf.env("TOKEN")]).toEqual(["changed", "of the middle"]);
    await leaf.setEnv("CITY", "Oslo");
    await root.setEnv("CITY", "");
    expect([await root.env("CITY"), await middle.env("CITY"), await leaf.env("CITY")]).toEqual(["", "", "Oslo"]);
    expect([await root.envType("CITY"), await root.envType("TOKEN")]).toEqual(["text", "secret"]);
  });

  describe("[VAR-3, OBS-8] a secret", () => {
    const asksForIt: readonly PromptPart[] = [
      { type: "text", content: "Key: " },
      { type: "env", property: "TOKEN" },
    ];

    it("that a thread has is sealed where it is stored, and not in what is exported or logged", async () => {
      const world = await newWorld();
      const { peek, read } = reader("TOKEN");
      const boss = actor(calls(callsTool("peek"), creates()), "Done.");
      const holdfast = await world.open([
        lead(boss.model, [staying("worker"), peek]),
        worker(actor(callsTool("peek"), finishes("Done.")).model, { tools: [peek] }),
      ]);
      const thread = await holdfast.threads.open("t", { agent: "lead", env: { TOKEN: SECRET } });
      await thread.send("Go.");
      expect(read).toEqual([SECRET, SECRET]);
      expect(await world.everything()).not.toContain(SECRET);
      expect(await readable(holdfast)).not.toContain(SECRET);
    });

    it("that a tool has read is hidden in what it returns or throws, where that is stored and where it is shown", async () => {
      const world = await newWorld();
      const using = (name: string, use: (value: string) => unknown) =>
        tool({ name, description: "Uses it.", execute: async (_input, { state }) => use(await state.env("TOKEN")) });
      const tools = [
        using("tells", (value) => `It is ${value}.`),
        using("lists", (value) => ({ headers: [{ name: "auth", value: `Bearer ${value}` }] })),
        using("refuses", (value) => ({ status: "error", error: `Not with ${value}.` })),
        using("throws", (value) => {
          throw new Error(`No entry with ${value}.`);
        }),
      ];
      const names = ["tells", "lists", "refuses", "throws"];
      const boss = actor(calls(...names.map((name) => callsTool(name))), "Done.");
      const holdfast = await world.open(lead(boss.model, tools));
      const thread = await holdfast.threads.open("t", { agent: "lead", env: { TOKEN: SECRET } });
      await thread.send("Go.");
      expect((await results(thread)).map(({ content }) => content)).toEqual([
        ...["It is [redacted].", '{"headers":[{"name":"auth","value":"Bearer [redacted]"}]}'],
        ...["Not with [redacted].", "No entry with [redacted]."],
      ]);
      expect(JSON.stringify(boss.shown)).not.toContain(SECRET);
      expect(await world.everything()).not.toContain(SECRET);
      expect(await readable(holdfast)).not.toContain(SECRET);
    });

    it("is not what is called text, nor a short word", async () => {
      const world = await newWorld();
      const both = tool({
        name: "both",
        description: "Reads two.",
        execute: async (_input, { state }) => `${await state.env("CITY")}, ${await state.env("FLAG")}, shown`,
      });
      const boss = actor(callsTool("both"), "Done.");
      const holdfast = await world.open(lead(boss.model, [both]));
      const env = { CITY: { value: "Reykjavik", type: "text" }, FLAG: "shown" } as const;
      const thread = await holdfast.threads.open("t", { agent: "lead", env });
      await thread.send("Go.");
      expect((await results(thread))[0]?.content).toBe("Reykjavik, shown, shown");
    });

    it("does not reach a model through its prompt", async () => {
      const world = await newWorld();
      const boss = actor("Done.");
      const holdfast = await world.open(lead(boss.model, [], { prompt: { prompt: asksForIt, variables: [token] } }));
      const thread = await holdfast.threads.open("t", { agent: "lead", env: { TOKEN: SECRET } });
      await thread.send("Go.");
      expect(boss.shown[0]?.instructions).toBe("Key: ");
      expect(JSON.stringify(boss.shown)).not.toContain(SECRET);
    });

    it("is every variable that nobody has called text, where it is set or where it is declared", async () => {
      const world = await newWorld();
      const boss = actor("Done.");
      const names = ["PLAIN", "SAID", "DECLARED"];
      const parts = names.map((property) => ({ type: "env", property }) as const);
      const variables = [{ name: "DECLARED", type: "text", required: false }] as const;
      const holdfast = await world.open(lead(boss.model, [], { prompt: { prompt: parts, variables } }));
      const env = { PLAIN: "1", SAID: { value: "2", type: "text" }, DECLARED: "3" } as const;
      const thread = await holdfast.threads.open("t", { agent: "lead", env });
      await thread.send("Go.");
      expect(boss.shown[0]?.instructions).toBe("23");
    });
  });
});
