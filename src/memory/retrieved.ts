// What was found for a prompt or for an agent that asked, with why.
import type { ContextItem } from "../contracts/context/context-item.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";

export type Retrieved = ContextItem & {
  readonly found: {
    /** The id of its source. */
    readonly source: string;
    /** What the source calls it; null where it has but one text. */
    readonly name: string | null;
    readonly uri: string;
    /** Where the text lies; null for what the host's own functions have brought. */
    readonly scope: MemoryScope | null;
    /** Of the text as it is kept. */
    readonly hash: string;
    readonly why: "always" | "on_intent" | "on_tool_need" | "asked";
    /** Unix seconds. */
    readonly updated_at: number | null;
    readonly confidence: number | null;
    /** True for what an agent wrote, and for what nobody knows the writer of. */
    readonly isOfAgent: boolean;
    /** True when it should have been checked, and nobody could tell. */
    readonly isUnchecked: boolean;
  };
};

/** Why a source has brought nothing. */
export type NotUsed =
  | "other_agent"
  | "other_mode"
  | "manual"
  | "never"
  | "not_intended"
  | "not_needed"
  | "no_user"
  | "capability_denied"
  | "consent_denied"
  | "failed"
  | "empty";

export type SourceReport = { readonly source: string; readonly found: number; readonly not_used: NotUsed | null };

/** A memory that holds no longer, as its validator says. */
export type StaleMemory = { readonly source: string; readonly scope: MemoryScope };
