// One request to a model with everything chosen: what a provider turn request and an adapter's own settings come to.
import { trimmed } from "../contracts/coerce.ts";
import type { Message } from "../contracts/conversation/message.ts";
import type { ProviderTurnRequest } from "../contracts/conversation/provider-turn.ts";
import type { StructuredOutputRequest } from "../contracts/conversation/structured-output.ts";
import { isEmpty, isMap, type Json, type JsonMap } from "../contracts/json.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";

/** A tool as a provider is told about it, under a name that every provider accepts. */
type ProviderTool = { readonly name: string; readonly description: string; readonly parameters: JsonMap };

export type ProviderCall = {
  readonly provider_id: string;
  readonly model_id: string;
  readonly system_prompt: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ProviderTool[];
  /** The request's model settings, such as `temperature`. */
  readonly model: JsonMap;
  readonly structured_output?: StructuredOutputRequest;
};

/** What is used where the request names nothing. */
export type ProviderDefaults = {
  readonly provider_id?: string;
  readonly model_id?: string;
  readonly system_prompt?: string;
};

/** The call that a request comes to; the system prompt is the context's, the runtime's or the default, in this order. */
export function providerCall(request: ProviderTurnRequest, defaults: ProviderDefaults): ProviderCall {
  const { model, context, runtime, messages, structured_output } = request;
  return Object.freeze({
    provider_id: trimmed(model.provider_id) ?? defaults.provider_id ?? "",
    model_id: trimmed(model.model_id) ?? defaults.model_id ?? "",
    system_prompt: trimmed(context.system_prompt) ?? trimmed(runtime.system_prompt) ?? defaults.system_prompt ?? "",
    messages,
    tools: providerTools(request.tool_declarations),
    model,
    ...(structured_output === undefined ? {} : { structured_output }),
  });
}

const toolLists = new WeakMap<ToolMap, readonly ProviderTool[]>();

/** The list that providers want; made once, because a run offers the same tools every turn. */
export function providerTools(declarations: ToolMap): readonly ProviderTool[] {
  const known = toolLists.get(declarations);
  if (known !== undefined) return known;
  const tools = Object.values(declarations).map(({ name, provider_safe_name, description, parameters }) =>
    Object.freeze({ name: provider_safe_name ?? name, description, parameters: objectSchema(parameters) }),
  );
  toolLists.set(declarations, Object.freeze(tools));
  return tools;
}

const noProperties: JsonMap = Object.freeze({ type: "object", properties: Object.freeze({}) });

/** Providers refuse a list where the schema or its properties must be an object, also when it is empty. */
function objectSchema(parameters: JsonMap | readonly Json[]): JsonMap {
  if (!isMap(parameters) || isEmpty(parameters)) return noProperties;
  const { properties } = parameters;
  return Array.isArray(properties) && properties.length === 0
    ? Object.freeze({ ...parameters, properties: {} })
    : parameters;
}
