// What a project says of its gateway, and where one is looked for without.
import { join } from "node:path";
import { isMap } from "../../contracts/json.ts";
import type { HoldfastOptions } from "../../holdfast.ts";
import type { GatewaySetup } from "../../index.ts";

/** Where a gateway's configuration is looked for when none is named. */
export function usualGatewayFile(cwd: string): string {
  return join(cwd, "gateway.yaml");
}

/** The option `gateway` of a project, written out. */
export function setupOf(gateway: NonNullable<HoldfastOptions["gateway"]>): GatewaySetup {
  return isMap(gateway) && "config" in gateway ? (gateway as unknown as GatewaySetup) : { config: gateway };
}
