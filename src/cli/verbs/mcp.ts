// holdfast mcp: the agents and operations for an MCP client that starts its servers itself, over stdin and stdout.
import { createHoldfast } from "../../holdfast.ts";
import { serveMcpStdio } from "../../server/mcp/stdio.ts";
import { ownerPrincipal } from "../local-client.ts";
import { relayMcp } from "../relay-mcp.ts";
import type { Verb } from "../verb.ts";

export const mcpVerbs: readonly Verb[] = [
  {
    name: "mcp",
    summary: "serve MCP over stdin and stdout; beside a running server, through its /mcp",
    async run({ project, door: findDoor, signal }) {
      const door = await findDoor();
      if (door) return await relayMcp(door, signal);
      const holdfast = await createHoldfast({ ...(await project()).options(), drainsOnSignal: false });
      try {
        signal.throwIfAborted();
        // Nothing else may be printed: stdout belongs to the protocol.
        const serving = serveMcpStdio(holdfast, { principal: ownerPrincipal });
        signal.addEventListener("abort", () => void serving.close(), { once: true });
        await serving.closed;
      } finally {
        await holdfast.close();
      }
    },
  },
];
