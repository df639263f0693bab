// Which model an agent uses: a function, a model object of the AI SDK, or a name such as "openai/gpt-5".
import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import type { Model } from "./model.ts";

/** A model object of any provider package of the AI SDK. */
export type AiSdkModel = LanguageModelV3 | LanguageModelV4;

/** A name is `<provider>/<model>`; its package and key are looked for when the runtime starts. */
export type ModelSource = Model | AiSdkModel | string;

/** US dollars per million tokens. What was cached costs as much as other input unless given. */
export type Price = { readonly input: number; readonly output: number; readonly cached?: number };

/** What a model can be sent. What is not said counts as something that it can. */
export type Capabilities = {
  readonly supportsImages?: boolean;
  readonly supportsToolCalls?: boolean;
  /** How much it can be shown at most. */
  readonly maxContextTokens?: number;
};

/** A model with what is known of it. */
export type ModelEntry = {
  readonly model: ModelSource;
  /** What logs call a function, which has no name that anybody else would know. */
  readonly name?: string;
  /** What it costs. Without it a run with a limit on money cannot use the model. */
  readonly price?: Price;
  /** The longest answer to ask for, in tokens; the provider's own default unless given. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Settings for the provider, as its package names them. */
  readonly providerOptions?: Readonly<Record<string, unknown>>;
  /** How long a stream may be silent before it counts as stalled; a minute unless given. */
  readonly stallMs?: number;
  readonly capabilities?: Capabilities;
};

export type ModelChoice = ModelSource | ModelEntry;

/** One model, or the first to ask and those that take over from it, in order. */
export type ModelChoices = ModelChoice | readonly ModelChoice[];

/** A model that can be asked. */
export type ReadyModel = {
  /** For people: `openai/gpt-5`, or for a function the name that it was given, or `a function`. */
  readonly name: string;
  readonly ask: Model;
  readonly price: Price | null;
  /** Null when nobody said: then as much is reserved as answers usually take. */
  readonly maxOutputTokens: number | null;
  readonly capabilities?: Capabilities;
};
