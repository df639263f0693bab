// What a chat runs with where the agent is only configured: provider, model, prompt and tools, checked in the order in
// which a caller is told what is missing.
import { agentSlug } from "../agents/agent-slug.ts";
import { numeric, stringList, trimmed, truthy } from "../coerce.ts";
import type { StructuredOutputRequest } from "../conversation/structured-output.ts";
import * as structuredOutput from "../conversation/structured-output.ts";
import { errorMessage } from "../error.ts";
import type { Hooks } from "../hooks.ts";
import { asMap, isMap, type JsonMap, snapshotMap, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import * as toolDeclaration from "../tools/declaration.ts";
import { badRequest, type ChatTurn, readTurn } from "./chat-turn.ts";

export type DefaultChatHost = {
  /** The configuration of an agent by its slug; undefined for one that is not registered. Null: there is no registry. */
  readonly configOf: ((agent: string) => UnknownMap | undefined) | null;
  /** What is decided about provider and model beside the configuration. */
  readonly profileOf?: ((agent: string, input: JsonMap) => UnknownMap | null) | undefined;
  readonly hooks?: Hooks | undefined;
};

export type DefaultChat = ChatTurn & {
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly system_prompt: string;
  readonly max_turns: number;
  readonly tools: readonly string[];
  readonly structured_output: StructuredOutputRequest | null;
};

const USUAL_TURNS = 12;

/** Everything a run needs, or the first thing that keeps it from beginning. */
export async function readDefaultChat(input: unknown, host: DefaultChatHost): Promise<DefaultChat | OperationError> {
  const given = snapshotMap(input);
  const turn = readTurn(given);
  if (isOperationError(turn)) return turn;
  const name = trimmed(given.agent) ?? "";
  const agent = agentSlug(name);
  const config = await configured({ name, agent }, given, host);
  if (isOperationError(config)) return config;
  const profile = host.profileOf?.(agent, given) ?? {};
  const provider = firstText(given.provider, profile.provider_id, config.provider, config.provider_id);
  if (provider === undefined) return badRequest("agents_chat_provider_required", "Nobody says which provider to ask.");
  const model = firstText(given.model, profile.model_id, config.model, config.model_id);
  if (model === undefined) return badRequest("agents_chat_model_required", "Nobody says which model to ask.");
  const wanted = readStructuredOutput(given.structured_output);
  if (isOperationError(wanted)) return wanted;
  const tools = await declaredTools(agent, given, config, host);
  if (!Array.isArray(tools)) return tools as OperationError;
  if (wanted !== null && (tools.length > 0 || truthy(given.token_streaming))) {
    return badRequest(
      "agents_chat_structured_output_incompatible",
      "An answer in a form goes without tools and at once.",
    );
  }
  return {
    ...turn,
    ...{ agent, provider, model, tools, structured_output: wanted },
    system_prompt: firstText(config.system_prompt, config.instructions, config.system, config.prompt) ?? "",
    max_turns: positive(given.max_turns) ?? positive(config.max_turns) ?? USUAL_TURNS,
  };
}

/** The agent's configuration after the host's last word; a turn without an agent has none. */
async function configured(
  { name, agent }: { readonly name: string; readonly agent: string },
  given: JsonMap,
  host: DefaultChatHost,
): Promise<UnknownMap | OperationError> {
  const { configOf, hooks } = host;
  if (name !== "" && configOf === null) {
    return operationError("agents_chat_registry_unavailable", "There is no registry of agents.", { status: 500 });
  }
  const known = name === "" ? {} : configOf?.(agent);
  if (known === undefined) {
    return operationError("agents_chat_agent_not_found", `There is no agent "${name}".`, { status: 404 });
  }
  const config = asMap(hooks ? await hooks.apply("runtimeAgentConfig", known, agent, given) : known);
  if (config !== undefined) return config;
  const detail = "The configuration of the agent is no map.";
  return operationError("agents_chat_invalid_runtime_agent_config", detail, { status: 500 });
}

function readStructuredOutput(value: unknown): StructuredOutputRequest | null | OperationError {
  if (value == null) return null;
  try {
    return structuredOutput.request(value);
  } catch (thrown) {
    return badRequest("agents_chat_invalid_structured_output", errorMessage(thrown));
  }
}

/** The tools by name: those of the configuration, and the client tools that the server adds. */
async function declaredTools(
  agent: string,
  given: JsonMap,
  config: UnknownMap,
  { hooks }: DefaultChatHost,
): Promise<readonly string[] | OperationError> {
  const enabled = stringList(config.enabled_tools);
  const { tools, abilities, tool_names } = config;
  const names = enabled.length > 0 ? enabled : stringList([tools, abilities, tool_names].flatMap(listed));
  const overlay = await hooks?.apply("runtimeToolDeclarations", {}, agent, given);
  if (overlay === undefined) return names;
  const declarations = asMap(overlay);
  const isSound = declarations && Object.entries(declarations).every(([name, each]) => isRefinement(name, each, names));
  if (!isSound) {
    return badRequest("agents_chat_invalid_runtime_tool_declaration", "What the server says about tools is not sound.");
  }
  return [...new Set([...names, ...Object.keys(declarations)])];
}

/** A server may say more about a tool that there is, or add one that a client runs. */
function isRefinement(name: string, declaration: unknown, known: readonly string[]): boolean {
  if (!isMap(declaration) || (!known.includes(name) && !name.startsWith("client/"))) return false;
  try {
    return toolDeclaration.normalizeForConversationRequest(declaration).name === name;
  } catch {
    return false;
  }
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.map(trimmed).find((text) => text !== undefined);
}

function positive(value: unknown): number | undefined {
  const number = Math.trunc(numeric(value) ?? 0);
  return number > 0 ? number : undefined;
}
