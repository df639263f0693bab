// Who answers in a chat: the first of those who were registered and answer for its agent.
import type { JsonMap } from "../json.ts";
import type { Handler } from "../seams.ts";

export type HandlerOptions = {
  /** Smaller is asked earlier; 10 unless given. */
  readonly priority?: number;
  /** The agent it answers for, by its exact name; every one unless given. */
  readonly agent?: string;
};

export interface ChatHandlers {
  /** Adds a handler behind those of the same priority; none that is there is replaced. The returned function removes it. */
  register(handler: Handler, options?: HandlerOptions): () => void;
  find(input: JsonMap): Handler | undefined;
}

/** Behind every handler of a host: what answers when nobody else does. */
export const FALLBACK_PRIORITY = 1_000;

const USUAL_PRIORITY = 10;

export function createChatHandlers(): ChatHandlers {
  type Registered = { readonly handler: Handler; readonly priority: number; readonly agent: string | undefined };
  let registered: readonly Registered[] = [];
  return {
    register(handler, { priority = USUAL_PRIORITY, agent } = {}) {
      const entry = { handler, priority, agent };
      // Sorting keeps the order of equals.
      registered = [...registered, entry].sort((one, other) => one.priority - other.priority);
      return () => {
        registered = registered.filter((other) => other !== entry);
      };
    },
    find: (input) => registered.find(({ agent }) => agent === undefined || agent === input.agent)?.handler,
  };
}
