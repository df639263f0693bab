// Where MCP is served.

export const mcpPath = "/mcp";
