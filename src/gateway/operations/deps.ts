// What gateway operations are built with.

import type { Capability } from "../../abilities/capabilities.ts";
import type { Caller } from "../../abilities/operation.ts";
import type { Workbench } from "../../abilities/reach.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Gateway, Submitter } from "../gateway.ts";

export type GatewayDeps = {
  readonly define: Workbench["define"];
  readonly gateway: Gateway;
  /** Whether the caller holds a capability besides the one that an operation asks for. */
  permits(principal: Principal, capability: Capability): Promise<boolean>;
  /** Who the queue records as the submitter. */
  submitter(caller: Pick<Caller, "principal" | "door">): Submitter;
};
