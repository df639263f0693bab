// Runs and chats: how they are asked for, told and controlled.
import * as effectiveAgent from "../../src/contracts/agents/effective-agent.ts";
import * as runtimeProfile from "../../src/contracts/agents/runtime-profile.ts";
import { accessScope } from "../../src/contracts/chat/chat-input.ts";
import { deltaToWire } from "../../src/contracts/chat/jsonrpc-delta.ts";
import { taskFromOutput } from "../../src/contracts/chat/jsonrpc-task.ts";
import * as chatRunControl from "../../src/contracts/conversation/chat-run-control.ts";
import * as runControl from "../../src/contracts/conversation/run-control.ts";
import * as runReport from "../../src/contracts/conversation/run-control-results.ts";
import { redactPayload } from "../../src/contracts/conversation/run-redaction.ts";
import * as runResult from "../../src/contracts/conversation/run-result.ts";
import * as runtimeOverrides from "../../src/contracts/conversation/runtime-overrides.ts";
import * as packageRun from "../../src/contracts/packages/package-run.ts";
import * as sse from "../../src/contracts/sse.ts";
import * as workspace from "../../src/contracts/workspace.ts";
import {
  askPermission,
  askRunPermission,
  readContext,
  runChatCalls,
  runDispatch as runChatDispatch,
  runMessage,
  runOwnedChat,
  validateChat,
} from "../scripts/chat.ts";
import {
  dispatchFrontEnd,
  dispatchRpc,
  permitRpc,
  readFrontEnd,
  readParams,
  streamRpc,
} from "../scripts/chat-doors.ts";
import { runSequence as runChatRunControl } from "../scripts/chat-run-control.ts";
import { resultWithEnvelope, runControlSteps, runDispatch, runPackageSequence } from "../scripts/package-runs.ts";
import { runCalls, runSteps } from "../scripts/run-control.ts";
import type { Given } from "./given.ts";

export const runOperations = {
  "chat.accessScope": (given: Given<"input">) => accessScope(given.input),
  "chat.dispatch": runChatDispatch,
  "chat.permission": askPermission,
  "chatRun.context": readContext,
  "chatRunControl.ownedSequence": runOwnedChat,
  "chatRunControl.permission": askRunPermission,
  "trust/chatRunControl.sequence": runChatCalls,
  "defaultChat.validate": validateChat,
  "dispatchMessage.call": runMessage,
  "runtime/chatRunControl.sequence": (given: Given<"steps">) => runChatRunControl(given.steps),
  "runtime/runControl.sequence": (given: Given<"steps">) => runSteps(given.steps),
  "orchestration/runControl.sequence": (given: Given<"calls">) => runCalls(given.calls),
  "runControl.normalizeRun": (given: Given<"run">) => runControl.normalizeRun(given.run),
  "chatRun.normalize": (given: Given<"run">) => chatRunControl.normalizeChatRun(given.run),
  "runtimeOverrides.normalize": (given: Given<"overrides">) => runtimeOverrides.normalize(given.overrides),
  "workspace.fromArray": (given: Given<"value">) => workspace.normalize(given.value),
  "workspace.fromParts": (given: Given<"workspace_type" | "workspace_id">) => {
    const scope = workspace.normalize(given);
    return { ...scope, key: workspace.key(scope) };
  },
  "runControl.normalizeCancelResult": (given: Given<"result">) =>
    runReport.normalizeCancelResult(given.result, "err_code"),
  "runControl.normalizeEventsResult": (given: Given<"result">) =>
    runReport.normalizeEventsResult(given.result, "err_code"),
  "runControl.redactPayload": (given: Given<"payload">) => redactPayload(given.payload),
  "runControl.redact": (given: Given<"payload">) => redactPayload(given.payload),
  "runResult.normalize": (given: Given<"value">) => runResult.normalize(given.value),
  "runtimePackage.request": (given: Given<"input">) => packageRun.request(given.input),
  "runtimePackage.result": (given: Given<"value">) => packageRun.result(given.value),
  "runtimePackage.resultEnvelope": (given: Given<"value">) => packageRun.resultEnvelope(given.value),
  "runtimePackage.dispatch": runDispatch,
  "runtimePackage.control": runControlSteps,
  "runtimePackage.normalizeRequest": (given: Given<"input">) => packageRun.request(given.input),
  "runtimePackage.normalizeResult": (given: Given<"value">) => resultWithEnvelope(given.value),
  "runtimePackage.sequence": runPackageSequence,
  "effectiveAgent.resolve": (given: Given<"context">) => effectiveAgent.resolve(given.context),
  "runtimeProfile.resolve": (given: Given<"agent" | "context" | "runtime_overrides" | "profile_providers">) =>
    runtimeProfile.resolve({
      agent: given.agent,
      context: given.context,
      runtimeOverrides: given.runtime_overrides,
      providers: ((given.profile_providers ?? []) as readonly unknown[]).map((profile) => () => profile),
    }),
  "sse.frame": (given: Given<"frame">) => sse.frame(given.frame),
  "jsonrpc.inputFromParams": readParams,
  "jsonrpc.taskFromOutput": ({ output }: Given<"output">) => taskFromOutput(output),
  "jsonrpc.deltaToWire": ({ task_id, delta }: Given<"task_id" | "delta">) => deltaToWire(task_id, delta),
  "jsonrpc.dispatch": dispatchRpc,
  "jsonrpc.stream": streamRpc,
  "jsonrpc.permission": permitRpc,
  "frontendRest.input": readFrontEnd,
  "frontendRest.dispatch": dispatchFrontEnd,
};
