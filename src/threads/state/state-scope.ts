// For whom a thread's state is made: the thread, who acts in it, and where what is written goes.
import type { Thread } from "../../backend/thread-rows.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Agent } from "../agent.ts";
import type { HookSet } from "../hooks/hook-set.ts";
import type { StateBuffer } from "./state-buffer.ts";
import type { Execution, ToolOutcomeView } from "./thread-state.ts";

export type StateScope = {
  readonly thread: Thread;
  /** What the thread was created with; or how to find out, where that is rarely asked. */
  readonly arguments: JsonMap | (() => JsonMap);
  readonly buffer: StateBuffer;
  /** Null at rest. */
  readonly execution: Execution | null;
  /** Undefined for a thread whose agent this process does not know. */
  readonly agent: Agent | undefined;
  /** Those of whoever speaks; where nobody does, those of the agent's first side. */
  readonly hooks?: HookSet;
  /** What the prompt that speaks sets by itself. */
  readonly promptEnv: Readonly<Record<string, string>>;
  /** The tool that the state is for. */
  readonly tool?: {
    readonly name: string;
    /** The tools that it may queue and invoke; all of them when absent. */
    readonly uses?: readonly string[] | undefined;
    readonly env: Readonly<Record<string, string>>;
  };
  /** The effect that the state is for: what it says tells where it came from. */
  readonly effect?: { readonly id: string; readonly name: string };
  /** Runs a tool at once; absent where tools cannot run. */
  readonly invoke?: (name: string, args: JsonMap) => Promise<ToolOutcomeView>;
  /** Told of every secret that is read: none of them may be shown. */
  readonly onSecret?: (value: string) => void;
  /** For this run alone. */
  readonly context: Map<string, unknown>;
};
