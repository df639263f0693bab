// What a prompt is: the words a model is given, which model that is, what it sees of the history and what it may call.
import { createBrand } from "../../contracts/brand.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { SystemPart } from "../../contracts/standard/system-prompt.ts";
import type { ModelChoices } from "../../models/model-choice.ts";
import type { ReadSchema } from "../schemas/tool-schema.ts";
import type { Tool } from "../tool.ts";
import type { Init } from "./init.ts";
import type { Relationship } from "./relationship.ts";
import type { Variable } from "./variable.ts";

export type { Init, Variable };

export type PromptPart = SystemPart;

/** What a prompt may call, before names are looked up. */
export type ToolEntry =
  | {
      readonly kind: "tool";
      readonly tool: Tool;
      readonly env: Readonly<Record<string, string>>;
      readonly options: JsonMap;
    }
  | { readonly kind: "prompt"; readonly prompt: Prompt; readonly uses: PromptUse }
  /** A name with everything that may be said beside it; what it stands for the registry finds out. */
  | { readonly kind: "named"; readonly name: string; readonly given: JsonMap };

/** What a prompt may call, once names are looked up. */
export type ResolvedEntry =
  | Extract<ToolEntry, { kind: "tool" | "prompt" }>
  | { readonly kind: "handoff"; readonly agent: string; readonly init: Init }
  | { readonly kind: "subagent"; readonly relationship: Relationship };

/** How a prompt is used as a tool. */
export type PromptUse = Init & {
  readonly includeTextResponse: boolean;
  readonly includeToolCalls: boolean;
  readonly includeErrors: boolean;
};

export type Prompt = {
  readonly name: string;
  readonly toolDescription: string;
  readonly parts: readonly PromptPart[];
  /** The name of a model definition, or a choice as agents make it; the environment decides when there is none. */
  readonly model?: ModelChoices;
  readonly includeChat: boolean;
  readonly includePastTools: boolean;
  readonly parallelToolCalls?: boolean;
  readonly toolChoice: "auto" | "none" | "required";
  /** What it is called with as a tool, or as the first side of an agent. */
  readonly requiredSchema?: ReadSchema;
  readonly tools: readonly ToolEntry[];
  readonly variables: readonly Variable[];
  readonly env: Readonly<Record<string, string>>;
  readonly reasoning?: {
    readonly effort?: "low" | "medium" | "high";
    readonly maxTokens?: number;
    readonly exclude?: boolean;
    /** What models thought before is shown to them again. */
    readonly include?: boolean;
  };
  /** So many of the newest messages keep their images. */
  readonly recentImageThreshold: number;
  readonly providerOptions?: JsonMap;
  /** Ids of hooks; when there are any they replace those of the agent. */
  readonly hooks: readonly string[];
};

const prompts = createBrand();

/** True for what `prompt` has made. */
export function isPrompt(value: unknown): value is Prompt {
  return isMap(value) && prompts.has(value);
}

/** A prompt that is known again. */
export function marked(made: Prompt): Prompt {
  prompts.mark(made);
  return Object.freeze(made);
}
