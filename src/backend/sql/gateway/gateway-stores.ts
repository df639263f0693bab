// Everything that the gateway keeps, in SQL.
import type { GatewayStores } from "../../gateway/gateway-stores.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import { createConfigurationStore } from "./configurations.ts";
import { createGatewayControlStore } from "./control.ts";
import { createGatewayEventStore } from "./events.ts";
import { createJobStore } from "./jobs.ts";
import { createPluginStateStore } from "./plugin-state.ts";
import { createScheduleStore } from "./schedules.ts";

export function createGatewayStores(driver: SqlDriver): GatewayStores {
  return {
    jobs: createJobStore(driver),
    events: createGatewayEventStore(driver),
    pluginState: createPluginStateStore(driver),
    schedules: createScheduleStore(driver),
    control: createGatewayControlStore(driver),
    configurations: createConfigurationStore(driver),
  };
}
