// Where the small MCP server is.
import { fileURLToPath } from "node:url";

export const script = fileURLToPath(import.meta.resolve("./small-server.ts"));
