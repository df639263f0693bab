// From stored rows to the transcript that a model is shown: what was superseded is replaced, what was deleted is gone.
import type { StoredMessage } from "../backend/thread-store.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { isMap } from "../contracts/json.ts";

/** A transcript, and the number of the row that each of its messages stands in. */
export type Transcript = { readonly messages: Message[]; readonly seqs: number[] };

/** Reads rows in the order they were loaded: the summary first, then the tail. */
export function readTranscript(rows: readonly StoredMessage[]): Transcript {
  const superseded = new Map<number, StoredMessage>();
  for (const row of rows) if (row.supersedes !== null) superseded.set(row.supersedes, row);
  const messages: Message[] = [];
  const seqs: number[] = [];
  for (const row of rows) {
    if (row.kind === "edit" || row.kind === "deletion") continue;
    const current = superseded.get(row.seq) ?? row;
    if (current.kind === "deletion") continue;
    messages.push(message.normalize(JSON.parse(current.envelope)));
    seqs.push(row.seq);
  }
  return superseded.size > 0 ? paired({ messages, seqs }) : { messages, seqs };
}

/** A call or a result whose other half was deleted is left out: no model is shown one without the other. */
function paired({ messages, seqs }: Transcript): Transcript {
  const idOf = ({ metadata }: Message) => (isMap(metadata) ? metadata.tool_call_id : undefined);
  const open: number[] = [];
  const kept = messages.map(() => true);
  messages.forEach((current, index) => {
    if (current.type === "tool_call") {
      open.push(index);
      kept[index] = false;
    }
    if (current.type !== "tool_result") return;
    const call = open.findIndex((candidate) => {
      const asked = messages[candidate];
      return asked !== undefined && idOf(asked) === idOf(current);
    });
    const [found] = call === -1 ? [] : open.splice(call, 1);
    kept[index] = found !== undefined;
    if (found !== undefined) kept[found] = true;
  });
  return {
    messages: messages.filter((_, index) => kept[index]),
    seqs: seqs.filter((_, index) => kept[index]),
  };
}
