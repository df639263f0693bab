// What memory and context add to a request: retrieved anew for every request, with a note that says why each piece is there.
import { sortedText } from "../../contracts/canonical-json.ts";
import type { Message } from "../../contracts/conversation/message.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { contentText } from "../../contracts/standard/content-text.ts";
import type { ConsentDecision } from "../../contracts/trust/consent.ts";
import { compose } from "../../memory/compose.ts";
import { contextRecord } from "../../memory/context-record.ts";
import { retrieveForPrompt } from "../../memory/retrieve.ts";
import { runOptions } from "../agent.ts";
import { decideConsent } from "../consent/decide-consent.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import { subjectOfMemory } from "../memory/subject-of-memory.ts";
import type { ThreadRun } from "../thread-run.ts";
import { holdsCapability } from "../trust.ts";

/** The note under which a composed context is kept. */
export const CONTEXT_COMPOSED = "context_composed";

export type RetrievedContext = { readonly text: string; readonly notes: readonly JsonMap[] };

const nothing: RetrievedContext = { text: "", notes: [] };

/** True when something may have to be retrieved; most runtimes register nothing. */
function retrievesContext({ memory }: Host): boolean {
  return memory.sources.length > 0;
}

export async function retrievedContext(
  host: Host,
  held: HeldThread,
  run: ThreadRun,
  given: readonly Message[],
): Promise<RetrievedContext> {
  if (!retrievesContext(host)) return nothing;
  const { agent } = run.cast;
  const about = { threadId: held.id, agent };
  const subject = await subjectOfMemory(host, about);
  let consent: Promise<ConsentDecision> | undefined;
  const { mode, user_id, workspace } = subject;
  const found = await retrieveForPrompt({
    memory: host.memory,
    subject,
    context: {
      ...{ mode, user_id, workspace, agent: agent.slug, thread_id: held.id, query: null },
      last_message: lastWords(given),
      signal: run.abort.signal,
    },
    tools: namesOf(run),
    holds: (capability) => holdsCapability(host, held.subject, runOptions(agent), capability),
    async mayUseMemories() {
      consent ??= decideConsent(host, { threadId: held.id, agent: agent.slug }, "use_memory");
      return (await consent).allowed;
    },
  });
  const composed = compose(found.items);
  const decided = (await consent) ?? null;
  const record = contextRecord({ ...found, composed, consent: decided }, (value) => host.sealing.bind(value, held.id));
  return { text: composed.text, notes: [noteOf(held, run, record)] };
}

/** What was composed last in each run, and at which step. */
const lastOfRun = new WeakMap<ThreadRun, { readonly record: string; readonly step: number }>();

/** Most steps are asked with the same context as the one before: then only that is said. */
function noteOf(held: HeldThread, run: ThreadRun, record: JsonMap): JsonMap {
  const step = held.steps + 1;
  const text = sortedText(record);
  const last = lastOfRun.get(run);
  // An attempt that failed has left no note that another could point to.
  if (last?.record === text && last.step < step)
    return { type: CONTEXT_COMPOSED, metadata: { step, same_as: last.step } };
  lastOfRun.set(run, { record: text, step });
  return { type: CONTEXT_COMPOSED, metadata: { step, ...record } };
}

function lastWords(given: readonly Message[]): string {
  const said = given.findLast(({ role, type }) => role === "user" && type === "text");
  return said ? contentText(said.content) : "";
}

/** Under the names they are declared by, and those that models call them by. */
function namesOf({ working: { tools } }: ThreadRun): ReadonlySet<string> {
  return new Set(Object.keys(tools).flatMap((name) => [name, name.replace(/^standard\//, "")]));
}
