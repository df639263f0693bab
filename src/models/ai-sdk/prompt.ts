// What a provider is sent of a thread: a projection of the envelopes, made anew for every request and for any provider.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Message } from "../../contracts/conversation/message.ts";
import { isEmpty } from "../../contracts/json.ts";
import { canonicalName, providerSafeName, type ToolMap } from "../../contracts/tools/declaration.ts";
import type { AiSdkModel } from "../model-choice.ts";
import { callIds } from "./call-ids.ts";
import type { ContentPart } from "./content-parts.ts";
import { type AssistantTurn, readTurns, type Turn, type TurnPart } from "./turns.ts";

type PromptMessage = LanguageModelV4Prompt[number];
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type FilePart = Extract<AssistantPart, { type: "file" }>;
type ProviderOptions = NonNullable<FilePart["providerOptions"]>;

export type PromptOptions = {
  readonly instructions?: string | undefined;
  readonly tools: ToolMap;
  /** False when the model takes none: then they are named in words. */
  readonly showsFiles?: boolean;
  readonly model: Pick<AiSdkModel, "provider" | "modelId" | "specificationVersion">;
};

/** What is said for a user who has said nothing: providers want him to have the first word, and the last. */
const GO_ON = "Continue.";

/**
 * One system message at the start, then the turns. A system message that comes later is told as a notice in the user's
 * place, because providers refuse it or let it outrank everything before it.
 */
export function promptOf(messages: readonly Message[], options: PromptOptions): LanguageModelV4Prompt {
  const turns = readTurns(messages);
  const begins = turns.findIndex(({ role }) => role !== "system");
  const leading = turns.slice(0, begins === -1 ? turns.length : begins);
  const system = [options.instructions ?? "", ...leading.map((turn) => ("text" in turn ? turn.text : ""))];
  const idOf = callIds(options.model);
  const said = turns.slice(leading.length).flatMap((turn) => messagesOf(turn, options, idOf));
  const first = said[0]?.role;
  const last = said.at(-1)?.role;
  return [
    ...systemMessage(system),
    ...(first === "user" ? [] : [userMessage(GO_ON)]),
    ...said.flatMap((message, index) =>
      followsAnother(message, said[index - 1]) ? [userMessage(GO_ON), message] : [message],
    ),
    ...(first !== undefined && last === "assistant" ? [userMessage(GO_ON)] : []),
  ];
}

/** Two answers in a row, as when a run was told to go on: some providers want the user in between. */
function followsAnother({ role }: PromptMessage, before: PromptMessage | undefined): boolean {
  return role === "assistant" && before?.role === "assistant";
}

function systemMessage(texts: readonly string[]): PromptMessage[] {
  const content = texts.filter((text) => text.trim() !== "").join("\n\n");
  return content === "" ? [] : [{ role: "system", content }];
}

function userMessage(text: string): PromptMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function notice(text: string): PromptMessage[] {
  return text.trim() === "" ? [] : [userMessage(`[Notice from the system, not from the user]\n${text}`)];
}

function messagesOf(turn: Turn, options: PromptOptions, idOf: (id: string) => string): PromptMessage[] {
  switch (turn.role) {
    case "system":
    case "notice":
      return notice(turn.text);
    case "user": {
      const content = turn.parts.map((part) => partOf(part, options));
      return content.length === 0 ? [] : [{ role: "user", content }];
    }
    case "assistant":
      // Some providers refuse calls where no tools are offered, as when a summary is to be written.
      return isEmpty(options.tools) ? toldMessages(turn, options) : answerMessages(turn, options, idOf);
  }
}

/** An answer of which the calls are told in words. */
function toldMessages({ parts, calls }: AssistantTurn, options: PromptOptions): PromptMessage[] {
  const told = calls.map(
    ({ name, input, result }) => `${name} was called with ${JSON.stringify(input)}: ${result.text}`,
  );
  const content = parts.map((part) => partOf(part, options));
  return [...(content.length > 0 ? [{ role: "assistant" as const, content }] : []), ...notice(told.join("\n"))];
}

/** The answer, and right behind it what came of each of its calls: no provider takes one without the other. */
function answerMessages(turn: AssistantTurn, options: PromptOptions, idOf: (id: string) => string): PromptMessage[] {
  const { model, tools } = options;
  // What was thought, without a word or a call to go with it, is refused.
  if (turn.parts.length === 0 && turn.calls.length === 0) return [];
  const calls = turn.calls.map((call) => ({ ...call, id: idOf(call.id), name: toolName(call.name, tools) }));
  const content: AssistantPart[] = [
    ...reasoningParts(turn, model.provider),
    ...turn.parts.map((part) => partOf(part, options)),
    ...calls.map(({ id, name, input, provider_metadata }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input,
      ...providerOptions(provider_metadata),
    })),
  ];
  const results = calls.map(({ id, name, result: { text, isError } }) => ({
    type: "tool-result" as const,
    toolCallId: id,
    toolName: name,
    output: { type: isError ? ("error-text" as const) : ("text" as const), value: text },
  }));
  const answer: PromptMessage = { role: "assistant", content };
  if (results.length === 0) return [answer];
  return [answer, { role: "tool", content: results }, ...filesOf(turn, options)];
}

/** What results hold beside words. Few providers take files in a result; all that take files take them from a user. */
function filesOf({ calls }: AssistantTurn, options: PromptOptions): PromptMessage[] {
  const content = calls.flatMap(({ name, result: { files = [] } }) =>
    files.length === 0
      ? []
      : [
          { type: "text" as const, text: `[Files that ${name} answered with]` },
          ...files.map((part) => partOf(part, options)),
        ],
  );
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** A provider takes back its own thoughts, with the signature that they came with; it refuses or misreads another's. */
function reasoningParts({ reasoning }: AssistantTurn, provider: string): AssistantPart[] {
  return reasoning
    .filter(({ provider_id }) => provider_id === provider)
    .map(({ text, provider_metadata }) => ({ type: "reasoning", text, ...providerOptions(provider_metadata) }));
}

/** The name that the tool is offered under now; one that is no longer there keeps a name that can be sent. */
function toolName(given: string, tools: ToolMap): string {
  const name = canonicalName(given, tools);
  const declaration = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return declaration ? (declaration.provider_safe_name ?? declaration.name) : providerSafeName(given);
}

function partOf(part: ContentPart | TurnPart, { model, showsFiles = true }: PromptOptions) {
  if (part.type === "text") {
    const { text } = part;
    return { type: "text" as const, text, ...providerOptions("provider_metadata" in part && part.provider_metadata) };
  }
  const { mediaType, data, filename } = part;
  if (!showsFiles)
    return { type: "text" as const, text: `[A file that cannot be shown here: ${filename ?? mediaType}]` };
  return { type: "file" as const, mediaType, data: fileData(data, model), ...(filename !== undefined && { filename }) };
}

/** The one thing in a prompt that the two interfaces write differently. */
function fileData(data: string | URL, { specificationVersion }: PromptOptions["model"]): FilePart["data"] {
  if (specificationVersion === "v3") return data as unknown as FilePart["data"];
  return data instanceof URL ? { type: "url", url: data } : { type: "data", data };
}

/** Each provider reads the entry under its own name and passes over the others. */
function providerOptions(metadata: unknown): { providerOptions?: ProviderOptions } {
  return metadata ? { providerOptions: metadata as ProviderOptions } : {};
}
