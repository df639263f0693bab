// Hands in what the last call of a chat was answered with. Only what this thread waits for is taken; all else was answered
// before, or was never asked.
import type { Answer, ChatDesk, PendingRequest } from "../chat/chat-desk.ts";
import type { PartAnswer } from "./chat-request.ts";

/** True when it was handed in. Throws `Refused` when it is not the caller's to answer. */
export async function submitAnswer(desk: ChatDesk, threadId: string, answer: PartAnswer): Promise<boolean> {
  const request = (await desk.pending(threadId)).find((pending) => answersTo(answer, pending));
  if (!request) return false;
  await desk.submit(request.id, answerOf(answer));
  return true;
}

/** An approval is known by its own id, because call ids come again; a client tool has nothing else. */
function answersTo(answer: PartAnswer, { id, kind, shown }: PendingRequest): boolean {
  if (answer.kind === "approval") return kind === "approval" && answer.approval_id === id;
  return kind === "client_tool" && answer.call_id === shown.tool_call_id;
}

function answerOf(answer: PartAnswer): Answer {
  switch (answer.kind) {
    case "approval": {
      const { approved, reason } = answer;
      return { decision: approved ? "accepted" : "rejected", ...(reason !== undefined && { reason }) };
    }
    case "output":
      return { result: answer.result };
    case "error":
      return { error: answer.error };
  }
}
