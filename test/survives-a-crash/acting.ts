// Who acts in the scenarios about trust: Ann uses the agent, Bob decides. Each thread acts in a workspace of its own, because
// what is remembered there is shared by all threads of a database.
import { isMap, type JsonMap } from "../../src/contracts/json.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import type { Answer } from "../../src/threads/requests/requests.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";

const signedIn = { effective_agent_id: "desk", auth_source: "user", request_context: "chat" };

export const ann = { ...signedIn, acting_user_id: 7 };
export const bob = { ...signedIn, acting_user_id: 12 };

/** Where the thread of that key acts. */
export function here(key: string) {
  return { workspace: { workspace_type: "site", workspace_id: key } };
}

/** Decides about whatever the thread waits for now, if it does: whoever is named, or code that names nobody. */
export async function decide(
  holdfast: Holdfast,
  thread: ThreadHandle,
  decisions: Readonly<Record<string, Answer>>,
  by: { readonly principal?: typeof bob } = {},
): Promise<void> {
  await thread.wait();
  const [pending] = await holdfast.requests.list({ thread: thread.id, status: "pending" });
  const answer = pending && decisions[pending.tool_name];
  if (answer) await holdfast.requests.submit(pending.id, answer, by);
}

/** What the log keeps of one kind beside its records, oldest first. */
export async function notesOf(thread: ThreadHandle, type: string): Promise<readonly JsonMap[]> {
  const { events } = await thread.export();
  const notes = events.flatMap((event) => JSON.parse(event.notes ?? "[]") as JsonMap[]);
  return notes.flatMap((note) => (note.type === type && isMap(note.metadata) ? [note.metadata as JsonMap] : []));
}
