// An answer in the making: takes the parts of a stream one by one, tells of them, and holds the whole at the end.
import type { LanguageModelV3StreamPart, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { nonEmptyString } from "../../contracts/coerce.ts";
import { isEmpty, isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { canonicalName, type ToolMap } from "../../contracts/tools/declaration.ts";
import type { ModelAnswer, ModelCall, ModelDelta } from "../model.ts";
import { usageOf } from "./usage.ts";

export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart;

type Finish = Extract<StreamPart, { type: "finish" }>;

/** Text or reasoning between its start and its end. */
type Block = { text: string; metadata: JsonMap };

export type Gathering = {
  /** True once the provider has begun to answer. */
  hasSpoken(): boolean;
  /** How the answer ended; undefined as long as it goes on. */
  finish(): Finish | undefined;
  take(part: StreamPart): void;
  answer(): ModelAnswer;
};

type Options = {
  readonly providerId: string;
  readonly modelId: string;
  readonly tools: ToolMap;
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
};

const LONGEST_INVALID_INPUT = 2_000;

/** Parts that come before anything is said, or beside it. */
const SILENT: ReadonlySet<StreamPart["type"]> = new Set(["stream-start", "raw", "ping", "error"]);

export function gatherAnswer({ providerId, modelId, tools, onDelta }: Options): Gathering {
  const texts = blocks();
  const reasoning = blocks();
  const inputs = new Map<string, string>();
  const calls: ModelCall[] = [];
  const files: { media_type: string; data: string }[] = [];
  let response: { readonly id?: string | undefined; readonly modelId?: string | undefined } = {};
  let finish: Finish | undefined;
  let hasSpoken = false;

  function say(type: "text" | "reasoning", text: string): undefined {
    if (text !== "") onDelta?.({ type, text });
  }

  function take(part: StreamPart): undefined {
    if (SILENT.has(part.type)) return;
    hasSpoken = true;
    // A stream may hold several messages; the last one is the answer's end.
    if (part.type !== "finish") finish = undefined;
    switch (part.type) {
      case "response-metadata":
        response = part;
        return;
      case "text-start":
        return texts.begin(part.id, part.providerMetadata);
      case "text-delta":
        texts.add(part.id, part.delta, part.providerMetadata);
        return say("text", part.delta);
      case "text-end":
        return texts.add(part.id, "", part.providerMetadata);
      case "reasoning-start":
        return reasoning.begin(part.id, part.providerMetadata);
      case "reasoning-delta":
        reasoning.add(part.id, part.delta, part.providerMetadata);
        return say("reasoning", part.delta);
      case "reasoning-end":
        return reasoning.add(part.id, "", part.providerMetadata);
      case "tool-input-start":
        // What the provider runs itself is not ours to tell of.
        if (part.providerExecuted !== true) inputs.set(part.id, canonicalName(part.toolName, tools));
        return;
      case "tool-input-delta": {
        const name = inputs.get(part.id);
        if (name !== undefined && part.delta !== "")
          onDelta?.({ type: "tool_input", id: part.id, name, text: part.delta });
        return;
      }
      case "tool-call":
        if (part.providerExecuted !== true) calls.push(readCall(part, tools));
        return;
      case "file": {
        const data = base64Of(part.data);
        if (data !== undefined) files.push({ media_type: part.mediaType, data });
        return;
      }
      case "finish":
        finish = part;
        return;
      default:
        // Sources, results of the provider's own tools, and kinds that are still to come.
        return;
    }
  }

  function answer(): ModelAnswer {
    const usage = usageOf(finish?.usage);
    const thoughts = reasoning.all().filter(({ text, metadata }) => text !== "" || !isEmpty(metadata));
    // The metadata of one text cannot be told from another's once they are joined.
    const [only, ...more] = texts.all().filter(({ text }) => text !== "");
    const message_metadata = {
      ...(thoughts.length > 0 && { reasoning: thoughts.map((thought) => readThought(thought, providerId)) }),
      ...(only && more.length === 0 && !isEmpty(only.metadata) && { provider_metadata: only.metadata }),
    };
    return {
      content: texts
        .all()
        .map(({ text }) => text)
        .join(""),
      tool_calls: calls,
      ...(usage && { usage }),
      request_metadata: {
        provider_id: providerId,
        model_id: nonEmptyString(response.modelId) ?? modelId,
        finish_reason: finish?.finishReason.unified ?? "other",
        ...(nonEmptyString(response.id) !== undefined && { response_id: response.id ?? "" }),
      },
      ...(!isEmpty(message_metadata) && { message_metadata }),
      ...(files.length > 0 && { files }),
    };
  }

  return { hasSpoken: () => hasSpoken, finish: () => finish, take, answer };
}

/** Blocks in the order in which they began. An id may be used again once its block has ended. */
function blocks() {
  const all: Block[] = [];
  const byId = new Map<string, Block>();
  function begin(id: string, metadata: unknown): undefined {
    const block = { text: "", metadata: snapshotMap(metadata) };
    all.push(block);
    byId.set(id, block);
  }
  return {
    begin,
    add(id: string, text: string, metadata: unknown): undefined {
      if (!byId.has(id)) begin(id, undefined);
      const block = byId.get(id);
      if (!block) return;
      block.text += text;
      if (isMap(metadata)) block.metadata = merged(block.metadata, snapshotMap(metadata));
    },
    all: (): readonly Readonly<Block>[] => all,
  };
}

/** What providers say of a block comes in pieces, each under the provider's name. */
function merged(before: JsonMap, added: JsonMap): JsonMap {
  const entries = Object.entries(added).map(([provider, value]) => {
    const known = before[provider];
    return [provider, isMap(known) && isMap(value) ? { ...known, ...value } : value];
  });
  return { ...before, ...Object.fromEntries(entries) };
}

function readThought({ text, metadata }: Readonly<Block>, provider_id: string): JsonMap {
  return { text, provider_id, ...(!isEmpty(metadata) && { provider_metadata: metadata }) };
}

function readCall(
  { toolCallId, toolName, input, providerMetadata }: Extract<StreamPart, { type: "tool-call" }>,
  tools: ToolMap,
): ModelCall {
  const parameters = readInput(input);
  const metadata = snapshotMap(providerMetadata);
  return {
    id: toolCallId,
    name: canonicalName(toolName, tools),
    parameters: parameters ?? {},
    ...(parameters === undefined && { invalid_input: String(input).slice(0, LONGEST_INVALID_INPUT) }),
    ...(!isEmpty(metadata) && { provider_metadata: metadata }),
  };
}

/** The arguments; none where nothing was written. Undefined for what is no JSON map. */
function readInput(input: unknown): JsonMap | undefined {
  if (typeof input === "string" && input.trim() === "") return {};
  try {
    const value: unknown = typeof input === "string" ? JSON.parse(input) : input;
    return isMap(value) ? snapshotMap(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The bytes of a file, in whichever way the interface carries them; undefined for one that is only pointed to. */
function base64Of(given: unknown): string | undefined {
  const data = isMap(given) && given.type === "data" ? given.data : given;
  if (data instanceof Uint8Array) return Buffer.from(data).toString("base64");
  return typeof data === "string" ? data : undefined;
}
