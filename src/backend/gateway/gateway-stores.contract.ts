// Every promise of the gateway's stores, as tests on one database.
import type { StoresInTest } from "../contract/stores-in-test.ts";
import { describeConfigurations } from "./configuration-store.contract.ts";
import { describeGatewayControl } from "./gateway-control-store.contract.ts";
import { describeGatewayEvents } from "./gateway-event-store.contract.ts";
import { describeJobCommit } from "./job-commit.contract.ts";
import { describeJobEnds } from "./job-ends.contract.ts";
import { describeJobIdentities } from "./job-identities.contract.ts";
import { describeJobLeases } from "./job-leases.contract.ts";
import { describeJobLists } from "./job-lists.contract.ts";
import { describeJobQueue } from "./job-queue.contract.ts";
import { describePluginState } from "./plugin-state-store.contract.ts";
import { describeScheduleStore } from "./schedule-store.contract.ts";

export function describeGatewayStores(name: string, open: () => Promise<StoresInTest>): void {
  describeJobQueue(name, open);
  describeJobLeases(name, open);
  describeJobIdentities(name, open);
  describeJobCommit(name, open);
  describeJobEnds(name, open);
  describeJobLists(name, open);
  describeGatewayEvents(name, open);
  describePluginState(name, open);
  describeScheduleStore(name, open);
  describeGatewayControl(name, open);
  describeConfigurations(name, open);
}
