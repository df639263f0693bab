// Executors that answer what a vector says and keep a list of the calls that reached them.
import type { JsonMap } from "../../src/contracts/json.ts";
import type { ToolCall } from "../../src/contracts/tools/call.ts";
import { chatExecutor } from "../../src/contracts/tools/chat-executor.ts";
import type { ToolDeclaration, ToolMap } from "../../src/contracts/tools/declaration.ts";
import { execute, type ToolExecutor } from "../../src/contracts/tools/execution.ts";

/** By tool name; a tool that is not listed answers nothing. */
type ExecutorScript = Readonly<Record<string, { result?: unknown; throws?: string }>>;

/** What reached an executor; one that has a name says so. */
type SeenCall = ToolCall & { readonly executor?: string };

function scriptedExecutor(script: ExecutorScript = {}, name?: string) {
  const calls: SeenCall[] = [];
  const executor: ToolExecutor = (call) => {
    calls.push(name === undefined ? call : { ...call, executor: name });
    const answer = script[call.tool_name];
    if (answer?.throws !== undefined) throw new Error(answer.throws);
    return answer?.result;
  };
  return { executor, calls };
}

export type ToolScript = {
  tool_name: string;
  parameters?: JsonMap;
  available_tools?: ToolMap;
  context?: JsonMap;
  executor?: ExecutorScript;
  named_executors?: Readonly<Record<string, ExecutorScript>>;
};

export async function executeTool(script: ToolScript) {
  const { executor, calls } = scriptedExecutor(script.executor);
  const named = Object.entries(script.named_executors ?? {}).map(([target, own]) => ({
    target,
    ...scriptedExecutor(own, target),
  }));
  const result = await execute({
    toolName: script.tool_name,
    parameters: script.parameters ?? {},
    tools: script.available_tools ?? {},
    context: script.context ?? {},
    executor,
    namedExecutors: Object.fromEntries(named.map((each) => [each.target, each.executor])),
  });
  const named_executor_calls = Object.fromEntries(named.map((each) => [each.target, each.calls]));
  return { result, executor_calls: calls, named_executor_calls };
}

export type ChatScript = {
  tool_call: ToolCall;
  tool_definition: ToolDeclaration;
  context?: JsonMap;
  executor?: ExecutorScript;
};

export async function executeInChat(script: ChatScript) {
  const { executor, calls } = scriptedExecutor(script.executor);
  const result = await chatExecutor(executor)(script.tool_call, script.tool_definition, script.context ?? {});
  return { result, host_calls: calls };
}
