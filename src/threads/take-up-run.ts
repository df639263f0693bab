// Takes a run of a thread up where it stands, or makes a new one ready.
import type { Summarizer } from "../contracts/conversation/compaction.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { attempts } from "../loop/attempt.ts";
import { takeUp } from "../loop/keep-working.ts";
import { observe } from "../loop/observe.ts";
import type { Turns } from "../loop/records.ts";
import { recast } from "../loop/working.ts";
import { summarizerOf } from "../models/summarizer.ts";
import type { Agent } from "./agent.ts";
import { modelAsker } from "./asking/ask-model.ts";
import { modelsOf } from "./asking/models-of.ts";
import { safeContext } from "./asking/safe-context.ts";
import { toolCaller } from "./calls/call-tool.ts";
import { hidingOutcomes } from "./calls/hide-outcomes.ts";
import { nothingLeft } from "./calls/left-behind.ts";
import type { Cast } from "./cast/cast.ts";
import { castOf } from "./cast/casting.ts";
import type { PromptUse } from "./definitions/prompt.ts";
import { untilTimeUp, workTimeLeft } from "./funds/work-time.ts";
import type { HeldThread } from "./held-thread.ts";
import { type HookSet, hooksFor } from "./hooks/hook-set.ts";
import type { Host } from "./host.ts";
import { type Configured, configureRun, type RunBase } from "./run-config.ts";
import { installationSecrets } from "./secrets/installation-secrets.ts";
import { createKnownSecrets } from "./secrets/known-secrets.ts";
import type { Side } from "./state/thread-state.ts";
import { agentOf, currentModel, noneSeen, type ThreadRun, unspoken } from "./thread-run.ts";

const noTurns: Turns = { a: 0, b: 0 };

/** Takes a run up where the thread stands, or makes a new one ready. `turns`: those that the sides had before it. */
export function takeUpRun(host: Host, held: HeldThread, isNew: boolean, turns: Turns = noTurns): ThreadRun {
  const abort = new AbortController();
  const { signal } = abort;
  const base: RunBase = {
    key: isNew ? null : (held.state?.key ?? ""),
    turns,
    signal,
    askModel: (...asked) => askModel(...asked),
    callTool: (...called) => callTool(...called),
    summarize: (...given) => summarize(...given),
  };
  const first = castNow(host, held, held.state?.standing?.side ?? "a");
  const { lost } = first;
  const made = configured(first, base.key);
  const transcripts = held.readTranscripts();
  const kept = isNew ? null : held.kept.text();
  held.runFrom = kept?.from ?? held.nextMessage;
  held.trace = kept?.trace;
  const working = takeUp(made.config, transcripts, kept?.kept ?? null, isNew ? null : held.kept.answer(kept));
  // What is said for a call stays with that call: nobody speaks for one that does not wait.
  const frames = held.state?.frames.length ?? 0;
  if (working.outer.length !== frames) throw new Error(`${frames} prompts speak for ${working.outer.length} calls.`);
  const known = createKnownSecrets(installationSecrets(host));
  const run: ThreadRun = {
    cast: first.cast,
    models: modelsOf(host, first.cast),
    working,
    tell: observe(made.options),
    abort,
    attempt: attempts(signal).attempt,
    carryOut: hidingOutcomes(made.carryOut, () => run),
    isHeld: async () => true,
    said: "",
    cost: unspoken,
    attempted: null,
    left: nothingLeft,
    hooks: hooksOf(host, held, first.cast),
    known,
    secrets: known,
    filesSeen: noneSeen,
    context: new Map(),
    ...(lost && { lost }),
    act(side) {
      const now = castNow(host, held, side);
      if (now.lost) throw now.lost;
      if (now.cast === run.cast) return;
      run.cast = now.cast;
      run.models = modelsOf(host, now.cast);
      run.hooks = hooksOf(host, held, now.cast);
      const { config, carryOut } = configured(now, working.config.key);
      run.carryOut = hidingOutcomes(carryOut, () => run);
      recast(working, config);
    },
  };
  const askModel = modelAsker(host, held, run);
  const callTool = toolCaller(host, held, run);

  function configured({ cast, uses }: Acting, key: string | null): Configured {
    return configureRun(host, held, cast, modelsOf(host, cast), { ...base, key }, uses);
  }

  function summarize(...[head, about, options]: Parameters<Summarizer>): ReturnType<Summarizer> {
    run.cost = unspoken;
    const onUsage = (usage: unknown) => {
      run.cost = { hasSpoken: true, usage };
    };
    const left = workTimeLeft(working.config, held.state, host.now());
    return untilTimeUp(left, signal, (until) =>
      summarizerOf(currentModel(run, held), { signal: until, onUsage })(head, safeContext(about), options),
    );
  }

  return run;
}

function hooksOf({ registry }: Host, held: HeldThread, { agent, prompt }: Cast): HookSet {
  return hooksFor(registry, { agent: agent.hooks, prompt: prompt.hooks, children: held.childHooks });
}

/** `lost`: that the prompt which should act is not there, and what there is stands in for it until the run has ended. */
type Acting = { readonly cast: Cast; readonly uses?: PromptUse; readonly lost?: HoldfastError };

/** A prompt that speaks for a call is found in the cast of whoever made the call, frame by frame. */
function castNow(host: Host, held: HeldThread, side: Side): Acting {
  const agent = agentOf(host, held);
  let acting = sideNow(host, held, agent, side);
  for (const { prompt } of held.state?.frames ?? []) {
    if (acting.lost) break;
    const { cast } = acting;
    const found = [...cast.prompts.values()].find((each) => each.prompt.name === prompt);
    acting = found
      ? { cast: castOf(host, agent, side, prompt), uses: found.uses }
      : { ...acting, lost: lostPrompt(`There is no prompt "${prompt}" any more that ${cast.prompt.name} could use.`) };
  }
  return acting;
}

/** The side, or the one that is left of an agent with two. Before its first turn nobody has acted, and nobody is missed. */
function sideNow(host: Host, { state }: HeldThread, agent: Agent, side: Side): Acting {
  if (host.registry.promptOf(agent, side)) return { cast: castOf(host, agent, side) };
  const cast = castOf(host, agent, side === "a" ? "b" : "a");
  if (!state?.standing || state.turn === 0) return { cast };
  return { cast, lost: lostPrompt(`There is no prompt any more that speaks for side ${side} of "${agent.slug}".`) };
}

function lostPrompt(detail: string): HoldfastError {
  return holdfastError("prompt_not_found", detail);
}
