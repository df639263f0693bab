// An agent that remembers, for tests: its model answers as it is told to, and keeps what it was shown.
import { onTestFinished } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import {
  agent,
  createHoldfast,
  type Holdfast,
  type HoldfastOptions,
  memoryScope,
  memorySource,
  memoryTools,
} from "../src/index.ts";
import { secretKey } from "./databases.ts";

export const principal = {
  acting_user_id: 7,
  effective_agent_id: "clerk",
  auth_source: "user",
  request_context: "chat",
};
export const consent = { use_memory: true, store_memory: true };
export const ana = { agent: "clerk", principal, consent };

/** An agent whose model answers with what it is told to, and keeps what it was shown. */
export function clerk(answers: readonly unknown[] = [], tools = memoryTools()) {
  const shown: string[] = [];
  const model = (_messages: unknown, _context: unknown, { instructions = "", step = 0 }) => {
    shown[step] = instructions;
    return answers[step] ?? "Done.";
  };
  return {
    shown,
    agent: agent({ slug: "clerk", instructions: "You help.", model: model as never, tools: [...tools] }),
  };
}

export const calls = (name: string, parameters: object) => ({
  content: "",
  tool_calls: [{ id: `call-${name}`, name, parameters }],
});

export const userNotes = memorySource("notes", { layer: "user" });

export async function remembered(holdfast: Holdfast, filename: string, content: string, metadata = {}) {
  const scope = memoryScope("user", filename, { user_id: 7 });
  return await holdfast.memories.write(scope, content, { metadata: { source_type: "user_asserted", ...metadata } });
}

export async function resultOf(holdfast: Holdfast): Promise<Record<string, unknown>> {
  const [{ id } = { id: "" }] = await holdfast.threads.list();
  const thread = await holdfast.threads.get(id);
  const { message } = (await thread.messages()).findLast(({ message: { type } }) => type === "tool_result") ?? {};
  return message?.payload as Record<string, unknown>;
}

export async function open(
  own: ReturnType<typeof agent>,
  memory: NonNullable<HoldfastOptions["memory"]> = {},
  options: Partial<HoldfastOptions> = {},
): Promise<Holdfast> {
  const holdfast = await createHoldfast({
    ...{ backend: sqlite(":memory:"), agents: [own], memory, secretKey, verifies: true, drainsOnSignal: false },
    ...options,
  });
  onTestFinished(() => holdfast.close());
  return holdfast;
}
