// The providers whose models can be asked for by name: which package speaks with each, and which variables it needs.

export type Provider = {
  /** The npm package, which whoever uses the provider installs. */
  readonly package: string;
  /** What the package exports to make a provider with. */
  readonly factory: string;
  /** Variables that may hold the key, the usual one first; none when no key is needed. */
  readonly keys: readonly string[];
  readonly baseUrl?: BaseUrl;
  /** What speaks with the same provider where its package is not installed. */
  readonly standIn?: Pick<Provider, "package" | "factory"> & { readonly settings: Readonly<Record<string, unknown>> };
  /** Variables that say, when no model is named, that this provider is meant. */
  readonly meantBy: readonly string[];
  /** The model that is used when none is named. */
  readonly defaultModel?: string;
};

type BaseUrl = {
  readonly variable: string;
  /** Where the provider is when the variable is not set; as the package has it unless given. */
  readonly otherwise?: string;
  /** True when people also write the address without the `/v1` that the package wants at its end. */
  readonly endsInVersion?: boolean;
  /** What takes the package's place when the variable is set. */
  readonly servedBy?: Pick<Provider, "package" | "factory">;
};

/** Speaks chat completions, which every compatible server understands. */
const compatible = { package: "@ai-sdk/openai-compatible", factory: "createOpenAICompatible" };

/** OpenAI's newer models refuse the older name of the limit, which compatible servers still go by. */
function withNewerLimit({ max_tokens, ...body }: Readonly<Record<string, unknown>>): object {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

/** By the word before the slash of a model's name. */
export const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    "openai",
    {
      package: "@ai-sdk/openai",
      factory: "createOpenAI",
      keys: ["OPENAI_API_KEY"],
      baseUrl: { variable: "OPENAI_BASE_URL", servedBy: compatible },
      standIn: {
        ...compatible,
        settings: { baseURL: "https://api.openai.com/v1", transformRequestBody: withNewerLimit },
      },
      meantBy: ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
      defaultModel: "gpt-5",
    },
  ],
  [
    "anthropic",
    {
      package: "@ai-sdk/anthropic",
      factory: "createAnthropic",
      keys: ["ANTHROPIC_API_KEY"],
      baseUrl: { variable: "ANTHROPIC_BASE_URL", endsInVersion: true },
      meantBy: ["ANTHROPIC_API_KEY"],
      defaultModel: "claude-sonnet-5",
    },
  ],
  [
    "google",
    {
      package: "@ai-sdk/google",
      factory: "createGoogleGenerativeAI",
      keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
      meantBy: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
      defaultModel: "gemini-flash-latest",
    },
  ],
  ["mistral", plain("@ai-sdk/mistral", "createMistral", "MISTRAL_API_KEY")],
  ["groq", plain("@ai-sdk/groq", "createGroq", "GROQ_API_KEY")],
  ["xai", plain("@ai-sdk/xai", "createXai", "XAI_API_KEY")],
  ["deepseek", plain("@ai-sdk/deepseek", "createDeepSeek", "DEEPSEEK_API_KEY")],
  [
    "ollama",
    {
      ...compatible,
      keys: [],
      baseUrl: { variable: "OLLAMA_BASE_URL", otherwise: "http://localhost:11434/v1", endsInVersion: true },
      meantBy: ["OLLAMA_BASE_URL"],
    },
  ],
]);

function plain(name: string, factory: string, key: string): Provider {
  return { package: name, factory, keys: [key], meantBy: [key] };
}
