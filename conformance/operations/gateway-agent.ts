// Turns of the agent.
import { runAgentTurns } from "../scripts/agent-turn.ts";

export const gatewayAgentOperations = {
  "agentTurn.sequence": runAgentTurns,
};
