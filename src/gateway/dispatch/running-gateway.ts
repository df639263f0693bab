// The gateway as the plugins that run inside it see it.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { Snapshot } from "./snapshot.ts";

/** What plugins that run inside the gateway may ask of it. */
export type RunningGateway = {
  readonly snapshot: () => Snapshot;
  readonly stores: GatewayStores;
};
