// What the command line does for a client that starts it: a runtime, and MCP over standard input and output.
import * as principals from "../../src/contracts/trust/principal.ts";
import { serveMcpStdio } from "../../src/server/mcp/stdio.ts";
import { ANN, openDesk } from "./mcp-desk.ts";

const holdfast = await openDesk(process.argv[2] ?? ":memory:");
const { closed } = serveMcpStdio(holdfast, { principal: principals.userSession(ANN, "clerk") });
await closed;
await holdfast.close();
