// Every verb of the command line.
import { completionScript, type Shell, shells } from "./completion.ts";
import type { Verb } from "./verb.ts";
import { agentVerbs } from "./verbs/agents.ts";
import { approvalVerbs } from "./verbs/approvals.ts";
import { auditVerbs } from "./verbs/audit.ts";
import { chatVerbs } from "./verbs/chat.ts";
import { databaseVerbs } from "./verbs/database.ts";
import { devVerbs } from "./verbs/dev.ts";
import { gatewayVerbs } from "./verbs/gateway.ts";
import { initVerbs } from "./verbs/init.ts";
import { mcpVerbs } from "./verbs/mcp.ts";
import { memoryVerbs } from "./verbs/memory.ts";
import { openApiVerbs } from "./verbs/openapi.ts";
import { operateVerbs } from "./verbs/operate.ts";
import { runVerbs } from "./verbs/runs.ts";
import { serveVerbs } from "./verbs/serve.ts";
import { threadVerbs } from "./verbs/threads.ts";
import { tokenVerbs } from "./verbs/tokens.ts";
import { workflowVerbs } from "./verbs/workflows.ts";

const known: readonly Verb[] = [
  ...initVerbs,
  ...serveVerbs,
  ...devVerbs,
  ...mcpVerbs,
  ...chatVerbs,
  ...threadVerbs,
  ...approvalVerbs,
  ...memoryVerbs,
  ...tokenVerbs,
  ...auditVerbs,
  ...agentVerbs,
  ...operateVerbs,
  ...gatewayVerbs,
  ...workflowVerbs,
  ...runVerbs,
  ...databaseVerbs,
  ...openApiVerbs,
];

/** It completes itself too. */
const completion: Verb = {
  name: "completion",
  summary: "a script that completes commands in a shell",
  takes: { "<shell>": shells.join(", ") },
  choices: { shell: shells },
  examples: ["source <(holdfast completion bash)", "holdfast completion fish | source"],
  async run({ given, terminal }) {
    const script = completionScript(given.shell as Shell, verbs);
    terminal.answer({ script }, () => script.trimEnd());
  },
};

export const verbs: readonly Verb[] = [...known, completion];
