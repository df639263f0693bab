// Running one tool call: what must hold before it, which executor it goes to, and what its answer or its exception
// comes to. Nothing a tool does can throw into the loop; every failure is a result with an error_type.
import { nonEmptyString, trimmed } from "../coerce.ts";
import { errorMessage } from "../error.ts";
import { isContainer, isMap, type Json, type JsonMap, seal, snapshot } from "../json.ts";
import type { Outcome } from "../outcome.ts";
import type { ToolCall } from "./call.ts";
import { canonicalName, type ToolDeclaration, type ToolMap } from "./declaration.ts";
import { build, validateRequired } from "./parameters.ts";
import * as toolResult from "./result.ts";
import * as runtimeMetadata from "./runtime-metadata.ts";

type ToolResult = toolResult.ToolResult;

/** Runs a prepared call. What it returns, or resolves to, is the tool's answer; what it throws becomes an error result. */
export type ToolExecutor = (
  call: ToolCall,
  declaration: ToolDeclaration,
  context: JsonMap,
  options?: { readonly signal?: AbortSignal },
) => unknown;

/** A call that may run, or the result that stands in for running it. */
export type Prepared =
  | { readonly ready: true; readonly tool_call: ToolCall; readonly tool_def: ToolDeclaration }
  | ({ readonly ready: false } & ToolResult);

/** Finds the declaration of a tool the model named, builds its parameters and checks the required ones. */
export function prepare(toolName: string, parameters: JsonMap, tools: ToolMap, context: JsonMap): Prepared {
  const name = canonicalName(toolName, tools);
  const declaration = Object.hasOwn(tools, name) && isContainer(tools[name]) ? tools[name] : undefined;
  if (declaration === undefined) {
    return notReady(toolResult.notFound(toolName));
  }
  const built = build(parameters, context, declaration);
  const { valid, missing } = validateRequired(built, declaration);
  if (!valid) {
    const error = `Tool '${name}' is missing required parameters: ${missing.join(", ")}`;
    const metadata = { error_type: "missing_required_parameters", missing_parameters: missing };
    return notReady(toolResult.failure(name, error, metadata, declaration.runtime));
  }
  const call = preparedCall(name, built, sourceOf(declaration, name), toolName, trimmed(context.tool_call_id));
  return seal({ ready: true, tool_call: call, tool_def: declaration });
}

/** What stands in for a call whose arguments cannot be read: it does not run, and the model may make it again. */
export function unreadable(toolName: string): Prepared {
  const error = `The arguments for '${toolName}' are not a JSON object. Call it again with valid JSON.`;
  return notReady(toolResult.failure(toolName, error, { error_type: "invalid_arguments" }));
}

/** What stands in for a call that the model did not make as such: it is told in words what was wrong with its answer. */
export function refused(toolName: string, error: string): Prepared {
  return notReady(toolResult.failure(toolName, error, { error_type: toolName }));
}

/** The named executor that a declaration asks for, if any. */
export function executorTarget(declaration: ToolDeclaration): string | undefined {
  return isMap(declaration.runtime) ? trimmed(declaration.runtime.executor_target) : undefined;
}

/** The result of a call whose named executor does not exist; no other executor takes its place. */
export function targetUnavailable(call: ToolCall, target: string): ToolResult {
  const error = `Tool '${call.tool_name}' needs the executor '${target}', which is not available`;
  return toolResult.failure(call.tool_name, error, { error_type: "executor_target_unavailable" });
}

/** The result of a call that was executed. Never throws, whatever the executor returned or threw. */
export function settle(call: ToolCall, declaration: ToolDeclaration, outcome: Outcome): ToolResult {
  if ("threw" in outcome) return executorException(call, declaration, outcome.threw);
  let returned: Json;
  try {
    returned = snapshot(outcome.returned);
  } catch (error) {
    return executorException(call, declaration, error);
  }
  const fields = isMap(returned) ? returned : undefined;
  const runtime = mergedRuntime(declaration, fields?.runtime);
  if (fields === undefined || !Object.hasOwn(fields, "success")) {
    return toolResult.success(call.tool_name, returned, runtime);
  }
  // An executor may answer under another name.
  return toolResult.normalize({ ...fields, tool_name: nonEmptyString(fields.tool_name) ?? call.tool_name, runtime });
}

/** Prepares, executes and settles one call; a declaration's executor target is looked up in `namedExecutors` alone. */
export async function execute(request: {
  readonly toolName: string;
  readonly parameters: JsonMap;
  readonly tools: ToolMap;
  readonly context: JsonMap;
  readonly executor: ToolExecutor;
  readonly namedExecutors?: Readonly<Record<string, ToolExecutor>>;
}): Promise<ToolResult> {
  const { context, namedExecutors = {} } = request;
  const prepared = prepare(request.toolName, request.parameters, request.tools, context);
  if (!prepared.ready) return toolResult.normalize(prepared);
  const { tool_call: call, tool_def: declaration } = prepared;
  const target = executorTarget(declaration);
  const named = target !== undefined && Object.hasOwn(namedExecutors, target) ? namedExecutors[target] : undefined;
  if (target !== undefined && named === undefined) return targetUnavailable(call, target);
  const executor = named ?? request.executor;
  try {
    return settle(call, declaration, { returned: await executor(call, declaration, context) });
  } catch (threw) {
    return settle(call, declaration, { threw });
  }
}

/** The call in the form that `toolCall.normalize` gives it, of parts that are normalised already. */
function preparedCall(
  tool_name: string,
  parameters: JsonMap,
  source: string | undefined,
  provider_tool_name: string,
  id: string | undefined,
): ToolCall {
  const about = source === undefined ? { provider_tool_name } : { source, provider_tool_name };
  if (id === undefined) return seal({ tool_name, parameters, metadata: seal(about) });
  return seal({ tool_name, parameters, metadata: seal({ ...about, tool_call_id: id }), id });
}

function notReady(result: ToolResult): Prepared {
  return seal({ ready: false, ...result });
}

function sourceOf(declaration: ToolDeclaration, name: string): string | undefined {
  const slash = name.indexOf("/");
  return nonEmptyString(declaration.source) ?? (slash > 0 ? name.slice(0, slash) : undefined);
}

function mergedRuntime(declaration: ToolDeclaration, own: Json | undefined): JsonMap {
  // Cleaned before it is laid over the declaration's, so that a null cannot erase what was declared.
  const declared = runtimeMetadata.normalize(declaration.runtime);
  return own === undefined ? declared : seal({ ...declared, ...runtimeMetadata.normalize(own) });
}

function executorException(call: ToolCall, declaration: ToolDeclaration, threw: unknown): ToolResult {
  const metadata = { error_type: "executor_exception" };
  return toolResult.failure(call.tool_name, errorMessage(threw), metadata, declaration.runtime);
}
