// The threads of a scenario that has come to its end, read from its database.
import type { StoredCall, Thread } from "../backend/thread-rows.ts";
import { verifyAudit } from "../contracts/audit/verify-audit.ts";
import { createHoldfast, type Holdfast } from "../holdfast.ts";
import type { ThreadMessage } from "../threads/thread.ts";
import { backendOf, type CaseDatabase, SECRET_KEY } from "./case-database.ts";
import { checkThread } from "./check-thread.ts";
import { withoutIds } from "./without-ids.ts";

export type ReadThread = {
  /** Of a child: the name that it has in its parent. */
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
    const threads = await allThreads(holdfast);
    const keys = namedKeys(threads);
    const read = await Promise.all(threads.map(({ id }) => readThread(holdfast, id, keys.get(id) ?? id)));
    const broken = await brokenAudit(holdfast);
    // It is about all of them, and told once.
    return read.map((each, index) => (index > 0 ? each : { ...each, problems: [...each.problems, ...broken] }));
  } finally {
    await holdfast.close();
  }
}

/** Whether a stranger could verify what is there. */
async function brokenAudit({ audit }: Holdfast): Promise<readonly string[]> {
  const verdict = verifyAudit(await audit.export(), audit.publicKey);
  return verdict.ok ? [] : [`the audit does not hold: ${JSON.stringify(verdict.broken)}`];
}

/** Oldest first. */
async function allThreads(holdfast: Holdfast): Promise<readonly Thread[]> {
  const found: Thread[] = [];
  for (;;) {
    const after = found.at(-1)?.id;
    const page = await holdfast.threads.list({ limit: 100, ...(after !== undefined && { after }) });
    if (page.length === 0) return found;
    found.push(...page);
  }
}

/** The key of a child is drawn anew every time; its parent and its name are not. One more of a name is told from the first. */
function namedKeys(threads: readonly Thread[]): ReadonlyMap<string, string> {
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  const nameOf = ({ key, parent_id, child }: Thread): string => {
    const parent = parent_id === null ? undefined : byId.get(parent_id);
    return parent ? `${nameOf(parent)} > ${child?.thread_name}` : key;
  };
  const taken = new Map<string, number>();
  return new Map(
    threads.map((thread) => {
      const name = nameOf(thread);
      const times = (taken.get(name) ?? 0) + 1;
      taken.set(name, times);
      return [thread.id, times === 1 ? name : `${name} #${times}`];
    }),
  );
}

async function readThread(holdfast: Holdfast, id: string, key: string): Promise<ReadThread> {
  const handle = await holdfast.threads.get(id);
  const exported = await handle.export();
  const messages = await handle.messages();
  return {
    key,
    status: exported.thread.status,
    said: messages.flatMap(wordsOfUser),
    unknown: exported.calls.filter(({ phase }) => phase === "unknown"),
    problems: checkThread(exported, messages),
  };
}

function wordsOfUser({ message: { type, role, content } }: ThreadMessage): string[] {
  if (type !== "text" || role !== "user") return [];
  return [withoutIds(typeof content === "string" ? content : JSON.stringify(content))];
}
