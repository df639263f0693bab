// Traces a tool that code runs at once, below whatever that code belongs to.
import { type Context, context, trace } from "@opentelemetry/api";
import type { Thread } from "../../backend/thread-rows.ts";
import { quietly } from "../../contracts/when-ready.ts";
import type { Cast } from "../cast/cast.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import { type GuardedSpan, startSpan } from "./guarded-span.ts";
import { attribute } from "./names.ts";
import { endOfTool, toolStart } from "./tool-span.ts";

type Invoked = {
  readonly thread: Thread;
  readonly cast: Cast;
  readonly callId?: string;
  readonly secrets?: Pick<KnownSecrets, "clean">;
};

const asItIs = { clean: (text: string) => text };

/** Code that is not traced itself has nothing below it. */
export async function traceInvoked<Result>(
  invoked: Invoked,
  toolName: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const span = startInvoked(invoked, toolName);
  if (!span) return await work();
  const { secrets = asItIs } = invoked;
  try {
    const returned = await span.within(work);
    endOfTool(span, { returned }, secrets);
    return returned;
  } catch (threw) {
    endOfTool(span, { threw }, secrets);
    throw threw;
  }
}

function startInvoked({ thread, cast, callId }: Invoked, toolName: string): GuardedSpan | undefined {
  const parent = quietly(tracedContext) as Context | undefined;
  if (!parent) return undefined;
  const about = {
    [attribute.conversation]: thread.id,
    [attribute.agent]: cast.agent.slug,
    [attribute.thread]: thread.id,
    [attribute.run]: thread.run,
  };
  return startSpan({ ...toolStart(toolName, callId, about), parent });
}

function tracedContext(): Context | undefined {
  const active = context.active();
  return trace.getSpan(active) && active;
}
