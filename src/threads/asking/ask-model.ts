// Asks the model whose turn it is: what it is shown is put together, what it says while it answers is told to readers,
// and what it answers is read before anything is made of it.
import * as message from "../../contracts/conversation/message.ts";
import { isMap, type JsonMap, type UnknownMap } from "../../contracts/json.ts";
import { contentText } from "../../contracts/standard/content-text.ts";
import type { TurnRunner } from "../../loop/options.ts";
import type { ModelOptions } from "../../models/model.ts";
import { nothingLeft } from "../calls/left-behind.ts";
import { shownReturn } from "../calls/shown-outcome.ts";
import { type Assembled, assemble } from "../context/assemble.ts";
import { untilTimeUp, workTimeLeft } from "../funds/work-time.ts";
import type { HeldThread } from "../held-thread.ts";
import { beforeCreate } from "../hooks/message-hooks.ts";
import type { Host } from "../host.ts";
import { createLiveAnswer, type LiveAnswer } from "../stream/live-answer.ts";
import { currentModel, spoken, type ThreadRun, unspoken } from "../thread-run.ts";
import { keepFiles } from "./answer-files.ts";
import { readModelAnswer } from "./model-answer.ts";
import { safeContext } from "./safe-context.ts";

export function modelAsker(host: Host, held: HeldThread, run: ThreadRun): TurnRunner {
  let answering: LiveAnswer | undefined;
  const { signal } = run.abort;

  return async (given, context, turn) => {
    const step = held.steps;
    // Grows with every claim and with every commit, so no two tries at an answer have the same number.
    const attempt = held.epoch + held.nextSeq;
    const about = { thread_id: held.id, step, attempt, commit: held.nextSeq };
    const { config } = run.working;
    // Pieces of arguments cannot be put to a filter of what may be shown of them.
    const live = createLiveAnswer(about, config.asked.auditFilter ? null : turn.tools);
    const begunAt = performance.now();
    const told: { -readonly [Key in keyof JsonMap]: JsonMap[Key] } = aboutAttempt(run, held);
    run.said = "";
    run.cost = unspoken;
    run.attempted = told;
    run.left = nothingLeft;
    answering = live;
    const onDelta = (delta: unknown) => {
      // A model that was let go may go on talking.
      if (signal.aborted || answering !== live) return;
      run.cost = spoken;
      told.ttft_ms ??= Math.round(performance.now() - begunAt);
      if (!live.add(delta)) return;
      run.said = live.said;
      host.liveTexts.say(live.text);
    };
    const left = workTimeLeft(config, held.state, host.now());
    return await untilTimeUp(left, signal, async (until) => {
      const assembled = await assemble(host, held, run, given);
      if ("blocked" in assembled) return { content: assembled.blocked, tool_calls: [], blocked: true };
      const asked = { ...turn, ...optionsFor(run, assembled), step, attempt, onDelta, signal: until };
      const answer = await currentModel(run, held)(
        assembled.messages,
        safeContext(context),
        withoutTools(run, held, asked),
      );
      run.cost = spoken;
      const read = shownReport(readModelAnswer(answer, assembled.messages, step), run);
      Object.assign(told, outcomeOf(read));
      return run.cast.agent.style === "standard" ? await standardAnswer(host, held, run, read) : read;
    });
  };
}

/** An adapter may also return why it failed, in words of its own. */
function shownReport(read: UnknownMap, { secrets }: ThreadRun): UnknownMap {
  const { failure, provider_diagnostics } = read;
  if (failure === undefined && provider_diagnostics === undefined) return read;
  const shown = (value: unknown) => (value === undefined ? value : shownReturn(value, secrets));
  return { ...read, failure: shown(failure), provider_diagnostics: shown(provider_diagnostics) };
}

/** What a log tells of an attempt from its beginning. */
function aboutAttempt({ cast, models }: ThreadRun, { state }: HeldThread): Record<string, JsonMap[string]> {
  const model = models[state?.postponed?.model ?? 0] ?? models[0];
  const isStandard = cast.agent.style === "standard";
  return { model: model?.name ?? "", ...(isStandard && { prompt: cast.prompt.name, side: cast.side }) };
}

function outcomeOf({ usage, request_metadata }: UnknownMap): JsonMap {
  const { finish_reason } = isMap(request_metadata) ? request_metadata : {};
  return {
    ...(typeof finish_reason === "string" && { finish_reason }),
    ...(isMap(usage) && { usage: usage as JsonMap }),
  };
}

type Asked = ModelOptions & { readonly step: number };

function optionsFor({ cast }: ThreadRun, { instructions }: Extract<Assembled, { messages: unknown }>): Partial<Asked> {
  const { agent, prompt } = cast;
  const { output } = agent;
  const { toolChoice, parallelToolCalls, reasoning, providerOptions } = prompt;
  return {
    ...(instructions !== undefined && { instructions }),
    ...(output && { output: { name: output.name, schema: output.schema } }),
    ...(toolChoice !== "auto" && { toolChoice }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(reasoning && { reasoning }),
    ...(providerOptions && { providerOptions }),
  };
}

/** A model that takes no tools is not told of any. */
function withoutTools({ models }: ThreadRun, { state }: HeldThread, asked: Asked): Asked {
  const model = models[state?.postponed?.model ?? 0] ?? models[0];
  if (model?.capabilities?.supportsToolCalls !== false) return asked;
  const { toolChoice: _choice, parallelToolCalls: _parallel, ...rest } = asked;
  return { ...rest, tools: {} };
}

/** What the model made beside words becomes files of the thread; an answer without anything is told to be one. */
async function standardAnswer(host: Host, held: HeldThread, run: ThreadRun, read: UnknownMap): Promise<UnknownMap> {
  const answer = await hookedAnswer(host, held, run, await keepFiles(host, held, run, read));
  const { content, tool_calls, message_metadata } = answer;
  const { prompt } = run.cast;
  const metadata = prompt.reasoning?.include
    ? { message_metadata: { ...(isMap(message_metadata) && message_metadata), prompt: prompt.name } }
    : {};
  const isEmpty = !(typeof content === "string" && content.trim() !== "") && (tool_calls as unknown[]).length === 0;
  if (!isEmpty) return { ...answer, ...metadata };
  const refused = "The answer was empty. Answer with words, or call a tool.";
  const call = { id: `empty-${held.steps + 1}`, name: "invalid_assistant_response", parameters: {}, refused };
  return { ...answer, ...metadata, content: "", tool_calls: [call] };
}

/** The answer with the words that hooks want stored. Its calls have hooks of their own. */
async function hookedAnswer(host: Host, held: HeldThread, run: ThreadRun, answer: UnknownMap): Promise<UnknownMap> {
  const { content } = answer;
  if (typeof content !== "string" || content === "" || !run.hooks.has("before_create_message")) return answer;
  const isOfB = run.cast.side === "b" && run.working.outer.length === 0;
  const said = message.text(isOfB ? "user" : "assistant", content, isOfB ? { side: "b" } : {});
  const { content: words } = await beforeCreate(host, held, run, said);
  return { ...answer, content: contentText(words) };
}
