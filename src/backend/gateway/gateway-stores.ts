// Everything that the gateway keeps in a database.
import type { ConfigurationStore } from "./configuration-store.ts";
import type { GatewayControlStore } from "./gateway-control-store.ts";
import type { GatewayEventStore } from "./gateway-event-store.ts";
import type { JobStore } from "./job-store.ts";
import type { PluginStateStore } from "./plugin-state-store.ts";
import type { ScheduleStore } from "./schedule-store.ts";

export type GatewayStores = {
  readonly jobs: JobStore;
  readonly events: GatewayEventStore;
  readonly pluginState: PluginStateStore;
  readonly schedules: ScheduleStore;
  readonly control: GatewayControlStore;
  readonly configurations: ConfigurationStore;
};
