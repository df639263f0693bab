// A whole export of a thread, asked for part by part: what was said for years is not sent at once.
import type { Json, JsonMap } from "../contracts/json.ts";
import type { Client } from "./client.ts";

type Exported = JsonMap & {
  readonly thread: { readonly next_seq: number };
  readonly events: readonly Json[];
  readonly messages: readonly Json[];
};

/** `onProgress`: told after each part how many events there are by then, and how many there will be. */
export async function wholeExport(
  runtime: Pick<Client, "call">,
  thread_id: unknown,
  onProgress: (done: number, of: number) => void = () => undefined,
): Promise<JsonMap> {
  const ask = (more: object) => runtime.call<Exported>("holdfast/export-thread", { thread_id, ...more });
  let { next, ...whole } = await ask({});
  while (next !== undefined) {
    onProgress(whole.events.length, whole.thread.next_seq);
    const part = await ask({ after: next });
    whole = {
      ...whole,
      events: [...whole.events, ...part.events],
      messages: [...whole.messages, ...part.messages],
    };
    next = part.next;
  }
  return whole;
}
