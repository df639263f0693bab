// Every operation on the gateway, for the one list of operations.
import type { Operation } from "../../abilities/operation.ts";
import type { Workbench } from "../../abilities/reach.ts";
import { conversationOwner } from "../../contracts/trust/conversation-owner.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Gateway } from "../gateway.ts";
import type { GatewayDeps } from "./deps.ts";
import { eventOperations } from "./events.ts";
import { jobOperations } from "./jobs.ts";
import { pipelineOperations } from "./pipelines.ts";
import { pluginOperations } from "./plugins.ts";
import { runOperations } from "./runs.ts";
import { scheduleOperations } from "./schedules.ts";
import { systemOperations } from "./system.ts";

export function gatewayOperations({ define, runtime }: Workbench, gateway: Gateway): readonly Operation[] {
  const { authority } = runtime;
  const deps: GatewayDeps = {
    define,
    gateway,
    permits: (principal, capability) => authority.allows(principal, capability),
    submitter({ principal, door }) {
      const user_id = personBehind(principal);
      return { via: door === "cli" ? "cli" : "api", ...(user_id !== undefined && { user_id }) };
    },
  };
  return [
    pluginOperations,
    pipelineOperations,
    jobOperations,
    runOperations,
    scheduleOperations,
    eventOperations,
    systemOperations,
  ].flatMap((operations) => operations(deps));
}

/** The user for whom a token acts, so that erasing the user finds what came with any token; else the owner that is stated. */
function personBehind(principal: Principal): string | undefined {
  if (principal.acting_user_id > 0) return `user:${principal.acting_user_id}`;
  const owner = conversationOwner(principal);
  return owner ? `${owner.type}:${owner.key}` : undefined;
}
