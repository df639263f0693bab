// The threads of a scenario that has come to its end, read from its database.
import type { StoredCall } from "../backend/thread-store.ts";
import { createHoldfast, type Holdfast } from "../holdfast.ts";
import type { ThreadMessage } from "../threads/thread.ts";
import { backendOf, type CaseDatabase, SECRET_KEY } from "./case-database.ts";
import { checkThread } from "./check-thread.ts";

export type ReadThread = {
  readonly key: string;
  readonly status: string;
  /** What users have said, in order. */
  readonly said: readonly string[];
  /** Calls of which nobody could tell what they did. */
  readonly unknown: readonly StoredCall[];
  readonly problems: readonly string[];
};

export async function readThreads(database: CaseDatabase): Promise<readonly ReadThread[]> {
  // It only reads, so it needs to know no agent.
  const backend = await backendOf(database);
  const holdfast = await createHoldfast({ backend, agents: [], runs: false, secretKey: SECRET_KEY });
  try {
    const found: ReadThread[] = [];
    for (let after: string | undefined; ; ) {
      const page = await holdfast.threads.list({ limit: 100, ...(after !== undefined && { after }) });
      for (const { id } of page) found.push(await readThread(holdfast, id));
      after = page.at(-1)?.id;
      if (after === undefined) return found;
    }
  } finally {
    await holdfast.close();
  }
}

async function readThread(holdfast: Holdfast, id: string): Promise<ReadThread> {
  const handle = await holdfast.threads.get(id);
  const exported = await handle.export();
  const messages = await handle.messages();
  return {
    key: handle.key,
    status: exported.thread.status,
    said: messages.flatMap(wordsOfUser),
    unknown: exported.calls.filter(({ phase }) => phase === "unknown"),
    problems: checkThread(exported, messages),
  };
}

function wordsOfUser({ message: { type, role, content } }: ThreadMessage): string[] {
  return type === "text" && role === "user" ? [typeof content === "string" ? content : JSON.stringify(content)] : [];
}
