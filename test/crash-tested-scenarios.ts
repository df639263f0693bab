// Scenarios for the crash test of src/testing/: one that is right, and others each of which is wrong in a way of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import type { LedgerClient } from "../src/testing/ledger-client.ts";
import { type Scenario, scenario } from "../src/testing/scenario.ts";
import { agent } from "../src/threads/agent.ts";
import { prompt } from "../src/threads/definitions/define-prompt.ts";
import { effect } from "../src/threads/definitions/effect.ts";
import { type ToolContext, type ToolDefinition, tool } from "../src/threads/tool.ts";

type Answering = Pick<ToolDefinition, "idempotent" | "reconcile">;

type Shop = {
  /** How the tool does it, unless it does it right. */
  readonly execute?: (ledger: LedgerClient, context: ToolContext) => unknown;
  /** How it answers for itself after a crash. */
  readonly whenCutOff?: (ledger: LedgerClient) => Answering;
  readonly more?: Partial<Scenario>;
};

/** A customer is charged, and thanks for it. */
function shop({ execute = charge, whenCutOff = lookUp, more = {} }: Shop = {}): Scenario {
  return scenario({
    agents: ({ ledger }) => [
      agent({
        slug: "cashier",
        model: scriptedModel([callsTool("shop/charge"), says("Charged."), says("You are welcome.")]),
        tools: [
          tool({
            name: "shop/charge",
            description: "Charges a customer.",
            execute: (_, context) => execute(ledger, context),
            ...whenCutOff(ledger),
          }),
        ],
      }),
    ],
    async run({ holdfast }) {
      const thread = await holdfast.threads.open("customer-42", { agent: "cashier" });
      await thread.send("Charge me.", { key: "charge" });
      await thread.send("Thank you.", { key: "thanks" });
    },
    ...more,
  });
}

function charge(ledger: LedgerClient, { idempotencyKey }: ToolContext): unknown {
  return ledger.record({ name: "charge", key: idempotencyKey });
}

function lookUp(ledger: LedgerClient): Answering {
  return {
    async reconcile({ idempotencyKey }) {
      const isDone = (await ledger.count(idempotencyKey)) > 0;
      return isDone ? { status: "done", result: "charged" } : { status: "absent" };
    },
  };
}

export default shop();

/** Nobody can tell what it did. */
export const silent = shop({ whenCutOff: () => ({}) });

/** Says that running twice is the same as running once, and keeps the key to itself. */
export const lying = shop({
  execute: (ledger) => ledger.record({ name: "charge" }),
  whenCutOff: () => ({ idempotent: true }),
});

/** The same, with the key. */
export const repeatable = shop({ whenCutOff: () => ({ idempotent: true }) });

/** Says that it is done without having looked. */
export const hopeful = shop({ whenCutOff: () => ({ reconcile: () => ({ status: "done", result: "charged" }) }) });

/** Sends without a key: what was sent before the crash is sent again after it. */
export const keyless = shop({
  more: {
    async run({ holdfast }) {
      const thread = await holdfast.threads.open("customer-42", { agent: "cashier" });
      await thread.send("Charge me.");
    },
  },
});

/** Leaves its work behind when the program is over. */
export const leaving = shop({
  more: {
    async run({ holdfast }) {
      const thread = await holdfast.threads.open("customer-42", { agent: "cashier" });
      await thread.queueMessage("Charge me.", { key: "charge" });
    },
  },
});

const PLAN = "/attachments/plan.txt";

const writePlan = tool({
  name: "write_plan",
  description: "Writes a plan, and has a bell ring soon.",
  idempotent: true,
  async execute(_, { state }) {
    await state.writeFile(PLAN, "Go.");
    return await state.scheduleEffect("ring");
  },
});

const finish = tool({ name: "finish", description: "Ends it.", idempotent: true, execute: () => "Over." });

/** Has a child that is given a file, and an effect that is due later: what is said holds ids that are drawn anew. */
export const family = scenario({
  agents() {
    const wish = { agent: "child", name: "Ada", message: `Read ${PLAN}.`, attachments: [PLAN] };
    const script = [callsTool("write_plan"), callsTool("subagent_create", wish), says("1."), says("2."), says("3.")];
    const leads = prompt({ name: "leads", prompt: "You lead.", model: scriptedModel(script), tools: [writePlan] });
    const read = scriptedModel([callsTool("finish", { text: "Read." })]);
    const reads = prompt({ name: "reads", prompt: "You read.", model: read, tools: [finish] });
    const listens = prompt({ name: "listens", prompt: "You listen.", model: () => says("Yes.") });
    return [
      agent({ name: "parent", sideA: { prompt: leads, subagents: [{ agent: "child" }] } }),
      agent({
        name: "child",
        sideA: { prompt: reads, sessionStop: { name: "finish", messageProperty: "text" } },
        sideB: { prompt: listens },
        exposeAsTool: true,
        toolDescription: "Reads.",
      }),
    ];
  },
  definitions: ({ ledger }) => ({
    effects: [
      effect({
        name: "ring",
        description: "Rings.",
        async handler(state) {
          await ledger.record({ name: "ring", key: state.threadId });
          await state.queueMessage("Ring.");
        },
      }),
    ],
  }),
  async run({ holdfast }) {
    const thread = await holdfast.threads.open("family", { agent: "parent" });
    await thread.send("Go.", { key: "go" });
    while ((await thread.effects.list({ status: "completed" })).length === 0) await sleep(10);
  },
});

/** Waits for somebody in the end, who does not come. */
export const waiting = scenario({
  agents: () => [
    agent({
      slug: "guest",
      model: scriptedModel([callsTool("client/ring"), says("Welcome.")]),
      tools: [tool({ name: "client/ring", description: "Rings a bell." })],
    }),
  ],
  async run({ holdfast }) {
    const thread = await holdfast.threads.open("door", { agent: "guest" });
    await thread.send("Ring.", { key: "ring" });
  },
});

/** Checked by somebody who expects two charges. */
export const demanding = shop({
  more: {
    check({ effects }) {
      if (effects.length !== 2) throw new Error(`There were ${effects.length} charges.`);
    },
  },
});

/** Has a point of its own, which it passes after a charge. */
export const pointed = shop({
  more: {
    async run({ holdfast, reached }) {
      const thread = await holdfast.threads.open("customer-42", { agent: "cashier" });
      await thread.send("Charge me.", { key: "charge" });
      await reached("before thanks");
    },
  },
});

export const failing = shop({
  more: {
    async run() {
      throw new Error("The shop is closed.");
    },
  },
});

export const endless = shop({ more: { run: () => new Promise(() => {}) } });

/** Its process ends without a word to whoever has started it. */
export const falling = shop({
  more: {
    async run() {
      console.error("The floor is wet.");
      process.exit(3);
    },
  },
});

export const nothing = { agents: [] };
