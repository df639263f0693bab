// What a model is asked with: the system prompt as it reads now, and as much of the history as the prompt wants to see.
// It is put together anew for every request; what is stored stays as it is.
import type { Message } from "../../contracts/conversation/message.ts";
import * as message from "../../contracts/conversation/message.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { projectHistory } from "../../contracts/standard/project-history.ts";
import { projectImages } from "../../contracts/standard/project-images.ts";
import { nothingLeft } from "../calls/left-behind.ts";
import type { HeldThread } from "../held-thread.ts";
import { runHook } from "../hooks/run-hook.ts";
import type { Host } from "../host.ts";
import { runState } from "../run-state.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import type { ThreadState } from "../state/thread-state.ts";
import { noneSeen, type ThreadRun } from "../thread-run.ts";
import { filterMessages } from "./filter-messages.ts";
import { type RetrievedContext, retrievedContext } from "./retrieved-context.ts";
import { systemPrompt } from "./system-prompt.ts";

/** `blocked`: a hook does not let the model be asked, and says why. */
export type Assembled = { readonly messages: Message[]; readonly instructions?: string } | { readonly blocked: string };

export async function assemble(host: Host, held: HeldThread, run: ThreadRun, given: Message[]): Promise<Assembled> {
  const { agent } = run.cast;
  const isStandard = agent.style === "standard";
  const retrieved = await retrievedContext(host, held, run, given);
  if (!isStandard && run.hooks.size === 0 && !hasFiles(run, given)) {
    run.left = { ...nothingLeft, notes: retrieved.notes };
    return withInstructions(given, withContext(agent.instructions ?? "", retrieved));
  }
  const kept = new KeptWrites({ hasRun: true });
  const state = runState(host, held, run, kept);
  const scope = { host, state };
  const words = isStandard ? await systemPrompt(host, run, state) : (agent.instructions ?? "");
  const system = await runHook(run.hooks, "after_system_message", scope, words);
  const history = isStandard ? projectHistory(...historyFor(held, run, given)) : given;
  const filtered = run.hooks.has("filter_messages") ? await filterMessages(run.hooks, scope, history) : history;
  const shown = await projectImages(filtered, {
    recentImageThreshold: run.cast.prompt.recentImageThreshold,
    supportsImages: modelOf(run, held)?.capabilities?.supportsImages !== false,
    read: (path) => readImage(state, path),
  });
  const asked = await prefiltered(run, scope, shown);
  // What a hook leaves behind goes into the commit that takes the answer in.
  const { writes, entries, events, control } = kept;
  run.left = { writes, entries, events, control, notes: retrieved.notes };
  return "blocked" in asked ? asked : withInstructions([...asked.messages], withContext(system.value, retrieved));
}

/** What was retrieved stands after everything that the agent itself says. */
function withContext(words: string, { text }: RetrievedContext): string {
  return words === "" || text === "" ? `${words}${text}` : `${words}\n\n${text}`;
}

/** Looks at every message once: a long thread is asked about again and again. */
function hasFiles(run: ThreadRun, given: readonly Message[]): boolean {
  const seen = run.filesSeen.last === given[run.filesSeen.upTo - 1] ? run.filesSeen : noneSeen;
  const has = seen.has || given.slice(seen.upTo).some(({ metadata }) => metadata.attachments !== undefined);
  run.filesSeen = { upTo: given.length, last: given.at(-1), has };
  return has;
}

function withInstructions(messages: Message[], instructions: string): Assembled {
  return { messages, ...(instructions !== "" && { instructions }) };
}

function modelOf({ models }: ThreadRun, { state }: HeldThread) {
  return models[state?.postponed?.model ?? 0] ?? models[0];
}

/** A prompt that speaks for a call sees what was said to it, and the history of the thread if it wants that. */
function historyFor(held: HeldThread, run: ThreadRun, given: readonly Message[]): Parameters<typeof projectHistory> {
  const { cast, working } = run;
  const { includeChat, includePastTools, name, reasoning } = cast.prompt;
  const isSpeaking = working.outer.length > 0;
  const chat = isSpeaking && includeChat ? settledOnly(working.outer[0]?.transcript ?? []) : [];
  const from = isSpeaking ? chat.length : held.firstOfRun;
  const view = {
    side: isSpeaking ? ("a" as const) : cast.side,
    isDual: cast.agent.isDual && !isSpeaking,
    ...{ includeChat, includePastTools, from },
    reasoning: { includes: reasoning?.include === true, prompt: name },
  };
  return [[...chat, ...given], view];
}

/** Without the calls that are still open: the prompt is the answer to one of them. */
function settledOnly(transcript: readonly Message[]): readonly Message[] {
  const answered = new Set(
    transcript.flatMap(({ type, metadata }) => (type === "tool_result" ? [metadata.tool_call_id] : [])),
  );
  return transcript.filter(({ type, metadata }) => type !== "tool_call" || answered.has(metadata.tool_call_id));
}

async function readImage(state: ThreadState, path: string) {
  const [bytes, stat] = [await state.readFile(path), await state.statFile(path)];
  return bytes && stat ? { data: Buffer.from(bytes).toString("base64"), mediaType: stat.mimeType } : null;
}

type Prefiltered = { readonly messages: readonly Message[] } | { readonly blocked: string };

async function prefiltered(
  { hooks }: ThreadRun,
  scope: { readonly host: Host; readonly state: ThreadState },
  messages: readonly Message[],
): Promise<Prefiltered> {
  if (!hooks.has("prefilter_llm_history")) return { messages };
  const rows = message.toProviderMany(messages) as unknown as readonly JsonMap[];
  const outcome = await runHook(hooks, "prefilter_llm_history", scope, rows);
  if ("blocked" in outcome) return outcome;
  return { messages: "value" in outcome ? message.normalizeMany(outcome.value) : messages };
}
