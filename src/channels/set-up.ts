// Everything that channels and bridges add to a runtime, in the order in which a runtime comes to be: what they schedule is
// known before the database is opened, and what they take in only afterwards.
import type { Bridge } from "../contracts/channels/bridge.ts";
import type { EffectDefinition } from "../threads/definitions/effect.ts";
import type { Host } from "../threads/host.ts";
import { bridgeRoute, createBridge } from "./bridge.ts";
import type { Channel } from "./channel.ts";
import { type Channels, checkChannels, createChannels, type FindHooks } from "./channels.ts";
import { deliveryEffect, type FindRoute } from "./deliver-reply.ts";

export type ChannelSetUp = {
  /** Sends replies; every process that runs threads has it, whichever channels it has. */
  readonly effect: EffectDefinition;
  /** Throws `invalid_definition`. */
  check(agents: ReadonlyMap<string, unknown>): void;
  /** To be called before threads are run. */
  open(host: Host, hooks?: FindHooks): { readonly channels: Channels; readonly bridge: Bridge };
};

export function setUpChannels(channels: readonly Channel[] = []): ChannelSetUp {
  const byName = new Map(channels.map((each) => [each.name, each]));
  let opened: Host | undefined;

  const routeOf: FindRoute = (route, agent) => {
    if (route.kind === "bridge") return opened && bridgeRoute(opened, route, agent);
    const found = byName.get(route.name);
    return found && { ...found, client_name: found.name };
  };

  return {
    effect: deliveryEffect(() => {
      if (!opened) throw new Error("No reply is due before the runtime is there.");
      return { host: opened, routeOf };
    }),
    check: (agents) => checkChannels(channels, agents),
    open(host, hooks) {
      opened = host;
      return { channels: createChannels(host, channels, hooks), bridge: createBridge(host) };
    },
  };
}
