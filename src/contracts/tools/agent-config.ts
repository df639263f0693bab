// What an agent brings along as configuration, wherever a context carries it.
import { asMap, emptyMap, type UnknownMap } from "../json.ts";

/** The agent's configuration for this run; without one, the defaults it was registered with. */
export function agentConfigOf({ agent_config, agent }: UnknownMap): UnknownMap {
  return asMap(agent_config) ?? asMap(asMap(agent)?.default_config) ?? emptyMap;
}
