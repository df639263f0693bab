// holdfast mcp: the agents and operations for an MCP client that starts its servers itself, over stdin and stdout.
import type { Verb } from "../verb.ts";

export const mcpVerbs: readonly Verb[] = [
  {
    name: "mcp",
    summary: "serve MCP over stdin and stdout; beside a running server, through its /mcp",
    async run({ project, door: findDoor, signal }) {
      const door = await findDoor();
      if (door) return await (await import("../relay-mcp.ts")).relayMcp(door, signal);
      const { createHoldfast } = await import("../../holdfast.ts");
      const { serveMcpStdio } = await import("../../server/mcp/stdio.ts");
      const { ownerPrincipal } = await import("../local-client.ts");
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
