// Agents whose tool is at work when its process is killed, one for each thing that a tool can say about that.
import { appendFileSync, readFileSync } from "node:fs";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type Agent, agent } from "../src/threads/agent.ts";
import { type Tool, type ToolDefinition, tool } from "../src/threads/tool.ts";
import type { Program } from "./another-process.ts";

/** What the tool says of a call that was cut off. The one that has to wait comes last, so that it has time left. */
export const kinds = ["nothing", "idempotent", "done", "unsure", "throws", "nonsense", "absent"] as const;
type Kind = (typeof kinds)[number];

/** What happened outside, in a place that no crash takes back. */
export type Effect = {
  readonly did: "ran" | "was asked";
  readonly kind: Kind;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** How long an attempt may take, and a lease holds without word. */
export const TIMEOUT_MS = 1_500;

type Place = {
  readonly effects: string;
  /** Called within the tool, once the effect has happened. Unless it returns, the tool never answers. */
  readonly cutOff?: (kind: Kind) => void;
};

export function cutOffAgents(place: Place): readonly Agent[] {
  return kinds.map((kind) =>
    agent({
      slug: kind,
      model: scriptedModel([callsTool("shop/charge", { kind }, { id: `call-${kind}` }), says("Done."), says("Again.")]),
      tools: [chargeTool(kind, place)],
    }),
  );
}

export function readEffects(path: string): readonly Effect[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Effect);
}

function chargeTool(kind: Kind, { effects, cutOff }: Place): Tool {
  const note = (did: Effect["did"], key: string) =>
    appendFileSync(effects, `${JSON.stringify({ did, kind, key, at: Date.now() } satisfies Effect)}\n`);
  const answers: Partial<Record<Kind, () => unknown>> = {
    done: () => ({ status: "done", result: { charged: "before" } }),
    absent: () => ({ status: "absent" }),
    unsure: () => ({ status: "unknown" }),
    throws: () => {
      throw new Error("The shop is closed.");
    },
    nonsense: () => "perhaps",
  };
  const answer = answers[kind];
  return tool({
    name: "shop/charge",
    description: "Charges.",
    idempotent: kind === "idempotent",
    ...(kind === "absent" && { timeoutMs: TIMEOUT_MS }),
    execute: (_input, { idempotencyKey, queueMessage }) => {
      note("ran", idempotencyKey);
      queueMessage(`${kind} was charged`);
      if (!cutOff) return { charged: "now" };
      cutOff(kind);
      return new Promise(() => undefined);
    },
    ...(answer && {
      reconcile: (({ idempotencyKey }) => {
        note("was asked", idempotencyKey);
        return answer();
      }) as NonNullable<ToolDefinition["reconcile"]>,
    }),
  });
}

/** Has every tool begin, one after another, and dies inside the last one. */
export const run: Program<{ readonly effects: string }> = async (open, { effects }) => {
  const hasBegun = new Map(kinds.map((kind) => [kind, Promise.withResolvers<void>()]));
  const agents = cutOffAgents({
    effects,
    cutOff(kind) {
      if (kind === kinds.at(-1)) process.kill(process.pid, "SIGKILL");
      hasBegun.get(kind)?.resolve();
    },
  });
  const holdfast = await open(agents, { leaseMs: TIMEOUT_MS });
  for (const kind of kinds) {
    const thread = await holdfast.threads.open(kind, { agent: kind });
    await thread.queueMessage("Charge.");
    await hasBegun.get(kind)?.promise;
  }
};
