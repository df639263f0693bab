// The names of everything that traces tell: spans, their attributes and events. Where the OpenTelemetry conventions for
// generative AI have a name it is theirs; what only Holdfast knows stands under `holdfast.`.

/** Under which spans are found among those of other libraries. */
export const TRACER = "holdfast";

/** What a span is for. Its own name adds whom or what it is about, where there is something. */
export const operation = { run: "invoke_agent", step: "step", model: "chat", tool: "execute_tool" } as const;

export const attribute = {
  operation: "gen_ai.operation.name",
  conversation: "gen_ai.conversation.id",
  agent: "gen_ai.agent.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  requestStream: "gen_ai.request.stream",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  errorType: "error.type",
  thread: "holdfast.thread.id",
  run: "holdfast.run",
  step: "holdfast.step",
  attempt: "holdfast.attempt",
  purpose: "holdfast.purpose",
  requestId: "holdfast.request.id",
  requestKind: "holdfast.request.kind",
  outcome: "holdfast.outcome",
} as const;

export const event = {
  /** Of a call to a model: the first piece of its answer came. */
  firstToken: "holdfast.first_token",
  /** Of a run: it is laid down until somebody answers a request. */
  waiting: "holdfast.waiting",
  /** Of a run: it goes on with the answer, or because the time for one is up. */
  resumed: "holdfast.resumed",
} as const;

type Attribute = (typeof attribute)[keyof typeof attribute];

const ofAll = [attribute.conversation, attribute.agent, attribute.thread, attribute.run] as const;
const ofOutcome = [attribute.outcome, attribute.errorType] as const;

/** Which attributes a span may carry. Nothing that anybody said or passed is among them. */
export const carried: Readonly<Record<(typeof operation)[keyof typeof operation], readonly Attribute[]>> = {
  [operation.run]: [attribute.operation, ...ofAll, attribute.provider, ...ofOutcome],
  [operation.step]: [...ofAll, attribute.step],
  [operation.model]: [
    ...[attribute.operation, ...ofAll, attribute.step, attribute.attempt, attribute.purpose],
    ...[attribute.provider, attribute.requestModel, attribute.requestStream, attribute.responseModel],
    ...[attribute.finishReasons, attribute.timeToFirstChunk, attribute.inputTokens, attribute.cachedTokens],
    ...[attribute.outputTokens, attribute.reasoningTokens, ...ofOutcome],
  ],
  [operation.tool]: [
    ...[attribute.operation, ...ofAll, attribute.step],
    ...[attribute.toolName, attribute.toolCallId, attribute.toolType, ...ofOutcome],
  ],
};

/** Which attributes an event may carry. */
export const carriedByEvent: Readonly<Record<(typeof event)[keyof typeof event], readonly Attribute[]>> = {
  [event.firstToken]: [],
  [event.waiting]: [attribute.requestId, attribute.requestKind, attribute.toolName],
  [event.resumed]: [attribute.requestId, attribute.outcome],
};

/** What the conventions call a kind of error that has no name. */
export const OTHER_ERROR = "_OTHER";

/** Providers that the conventions call otherwise than their packages do. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["azure-openai", "azure.ai.openai"],
  ["google", "gcp.gemini"],
  ["google.vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["moonshotai", "moonshot_ai"],
  ["xai", "x_ai"],
]);

/** A function that somebody wrote has no provider that anybody else would know. */
const OWN_FUNCTION = "custom";

/** Provider and model of a name such as `openai/gpt-5`, or `openai.responses/gpt-5` as model objects have it. */
export function namesOfModel(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf("/");
  if (slash <= 0) return { provider: OWN_FUNCTION, model: name };
  const [family = "", part] = name.slice(0, slash).split(".");
  const provider = providerNames.get(`${family}.${part}`) ?? providerNames.get(family) ?? family;
  return { provider, model: name.slice(slash + 1) };
}
