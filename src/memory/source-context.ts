// What the host's own functions are told when something is to be retrieved.
import type { Workspace } from "../contracts/workspace.ts";

export type SourceContext = {
  readonly mode: string;
  /** The slug of the agent that acts. */
  readonly agent: string;
  /** 0 is nobody. */
  readonly user_id: number;
  readonly workspace: Workspace;
  readonly thread_id: string;
  /** What the user has said last. */
  readonly last_message: string;
  /** What an agent has asked for itself; null when a prompt is put together. */
  readonly query: string | null;
  readonly signal: AbortSignal;
};
