// An answer as the protocols of chats tell it. Every one of them has words, thoughts, calls and their results; what a
// thread records beside that is none of theirs.

export type Call = { readonly call_id: string; readonly tool_name: string; readonly input: unknown };

/** What somebody has to decide or to bring before the run goes on. */
export type Asked = Call & {
  readonly request_id: string;
  readonly kind: "approval" | "client_tool";
  /** Of an approval: what is proposed, in a line and in detail. */
  readonly summary: string;
  readonly preview: unknown;
};

export type Result = Call & {
  /** The approval that it had, if it took one. */
  readonly request_id?: string;
} & (
    | { readonly came: "output"; readonly output: unknown }
    | { readonly came: "error"; readonly error: string }
    | { readonly came: "denied"; readonly reason: string }
  );

export type AnswerEvent =
  | { readonly type: "run"; readonly run: number }
  /** A user's message was taken in. */
  | { readonly type: "user"; readonly seq: number; readonly id: string; readonly text: string }
  /** A model is asked. */
  | { readonly type: "step" }
  /** What was said in this step does not count: it is said anew. */
  | { readonly type: "restarted" }
  /** More words, or thoughts. */
  | { readonly type: "text" | "reasoning"; readonly text: string }
  /** More of the arguments of a call that is being made, as JSON text. */
  | { readonly type: "input"; readonly call_id: string; readonly tool_name: string; readonly text: string }
  | { readonly type: "call"; readonly call: Call }
  | { readonly type: "asked"; readonly asked: Asked }
  /** Somebody agreed, and the call runs. That somebody did not is told with the result. */
  | { readonly type: "accepted"; readonly request_id: string }
  | { readonly type: "result"; readonly result: Result }
  | { readonly type: "ended"; readonly run: number };
