// What a request leads to goes on in the trace that its headers name: runs that it starts hang below the span of whoever
// sent it. Which headers those are is for the propagator to say that the program has set; without one nothing is read.
import { type Context, context, propagation, ROOT_CONTEXT, type TextMapGetter, trace } from "@opentelemetry/api";
import type { MiddlewareHandler } from "hono";
import { quietly } from "../contracts/when-ready.ts";
import type { ServerEnv } from "./door.ts";

const headersOf: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, name) => headers.get(name) ?? undefined,
};

/** A program that traces its own HTTP server knows more than the headers say, and is left alone. */
function incoming(headers: Headers): Context | undefined {
  if (trace.getSpanContext(context.active())) return undefined;
  const extracted = propagation.extract(ROOT_CONTEXT, headers, headersOf);
  return trace.getSpanContext(extracted) && extracted;
}

/** Comes first: whatever goes wrong with tracing, the request is answered as if there were none. */
export const tracing: MiddlewareHandler<ServerEnv> = ({ req }, next) => {
  const parent = quietly(() => incoming(req.raw.headers)) as Context | undefined;
  if (!parent) return next();
  let answered: Promise<void> | undefined;
  quietly(() =>
    context.with(parent, () => {
      answered ??= next();
    }),
  );
  return answered ?? next();
};
