// The one list of operations. Every door is a projection of it.
import type { Runtime } from "../threads/runtime.ts";
import { accessOperations } from "./access-operations.ts";
import { agentOperations } from "./agents.ts";
import { approvalOperations } from "./approvals.ts";
import { askOperations } from "./ask-agent.ts";
import { auditOperations } from "./audit.ts";
import { bridgeOperations } from "./bridge.ts";
import { chatOperations } from "./chat.ts";
import type { ChatExtensions } from "./chat-host.ts";
import { chatRunOperations } from "./chat-runs.ts";
import { chatStreamOperations } from "./chat-stream.ts";
import { dispatchMessageOperations } from "./dispatch-message.ts";
import { effectOperations } from "./effects.ts";
import { fileOperations } from "./files.ts";
import { followOperations } from "./follow.ts";
import { grantOperations } from "./grants.ts";
import { guidelineOperations } from "./guidelines.ts";
import { memoryOperations } from "./memory.ts";
import { messageOperations } from "./messages.ts";
import { operateOperations } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { pendingActionOperations } from "./pending-action-operations.ts";
import { queuedToolOperations } from "./queued-tools.ts";
import { createWorkbench } from "./reach.ts";
import { rememberedOperations } from "./remembered.ts";
import { requestOperations } from "./requests.ts";
import { runtimeToolOperations } from "./runtime-tool-operations.ts";
import { sessionOperations } from "./session-operations.ts";
import { threadConsentOperations } from "./thread-consent.ts";
import { threadDetailOperations } from "./thread-details.ts";
import { threadOperations } from "./threads.ts";
import { tokenOperations } from "./tokens.ts";
import { variableOperations } from "./variables.ts";

/** All operations on a runtime. `extensions`: what a host adds to chats. */
export function createOperations(runtime: Runtime, extensions: ChatExtensions = {}): readonly Operation[] {
  const workbench = createWorkbench(runtime);
  const chat = [chatOperations, chatStreamOperations, chatRunOperations, dispatchMessageOperations, askOperations];
  const others = [
    threadOperations,
    messageOperations,
    followOperations,
    threadDetailOperations,
    threadConsentOperations,
    effectOperations,
    queuedToolOperations,
    fileOperations,
    memoryOperations,
    guidelineOperations,
    auditOperations,
    agentOperations,
    accessOperations,
    sessionOperations,
    requestOperations,
    // Before the other approvals: "remembered" stands where they have an id.
    rememberedOperations,
    approvalOperations,
    pendingActionOperations,
    runtimeToolOperations,
    variableOperations,
    tokenOperations,
    grantOperations,
    operateOperations,
    bridgeOperations,
  ];
  return [
    ...chat.flatMap((operations) => operations(workbench, extensions)),
    ...others.flatMap((operations) => operations(workbench)),
  ];
}
