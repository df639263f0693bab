// The ids of messages as chats in browsers know them: they name a place in the thread, so that what comes back with one
// leads there, and an answer has the same one however often it is told.

/** A message of a user that is part of the thread. */
export function userMessageId(seq: number): string {
  return `holdfast-message-${seq}`;
}

export function readUserMessageId(id: string): number | undefined {
  const [, seq] = /^holdfast-message-(\d{1,15})$/.exec(id) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

/** What a run says after a message that it has taken in; null for what it says before one. */
export type AnswerPlace = { readonly run: number; readonly seq: number | null };

export function answerId({ run, seq }: AnswerPlace): string {
  return `holdfast-answer-${run}-${seq ?? "none"}`;
}

export function readAnswerId(id: string): AnswerPlace | undefined {
  const [, run, seq] = /^holdfast-answer-(\d{1,15})-(\d{1,15}|none)$/.exec(id) ?? [];
  if (run === undefined || seq === undefined) return undefined;
  return { run: Number(run), seq: seq === "none" ? null : Number(seq) };
}
