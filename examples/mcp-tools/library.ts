// A small MCP server, as anybody may have written it: a library whose books can be found and lent.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "library", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool(
    "findBook",
    {
      description: "Finds a book by its title.",
      inputSchema: z.object({ title: z.string() }),
      outputSchema: z.object({ shelf: z.string() }),
      annotations: { readOnlyHint: true },
    },
    () => ({ content: [], structuredContent: { shelf: "B7" } }),
  );
  server.registerTool(
    "lendBook",
    { description: "Lends a book to a reader.", inputSchema: z.object({ title: z.string(), reader: z.string() }) },
    ({ title, reader }) => ({ content: [{ type: "text", text: `${title} is lent to ${reader}.` }] }),
  );
  server.registerTool("burnBook", { description: "Burns a book." }, () => ({ content: [] }));
  return server;
});
