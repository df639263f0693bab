// A whole export of a thread, asked for part by part: what was said for years is not sent at once.
import type { Json, JsonMap } from "../contracts/json.ts";
import type { Client } from "./client.ts";

type Exported = JsonMap & { readonly events: readonly Json[]; readonly messages: readonly Json[] };

export async function wholeExport(runtime: Pick<Client, "call">, thread_id: unknown): Promise<JsonMap> {
  const ask = (more: object) => runtime.call<Exported>("holdfast/export-thread", { thread_id, ...more });
  let { next, ...whole } = await ask({});
  while (next !== undefined) {
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
