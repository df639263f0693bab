// A rule about the order of calls: after a search at most two pages are opened before one is quoted, and there is no
// answer without a quotation.
import { runConversation } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const declare = (name: string, description: string) => ({ name, source: "library", description });

const result = await runConversation(
  [{ role: "user", content: "Why is the sea salty?" }],
  scriptedModel([
    callsTool("library/search", { words: "sea salt" }),
    callsTool("library/open", { page: 1 }),
    callsTool("library/open", { page: 2 }),
    callsTool("library/open", { page: 3 }),
    says("Because of the rivers."),
    callsTool("library/quote", { page: 2 }),
    says("Because rivers wash salts out of the rock."),
  ]),
  {
    maxTurns: 8,
    toolDeclarations: [
      declare("library/search", "Finds pages."),
      declare("library/open", "Opens a page."),
      declare("library/quote", "Quotes a page."),
    ],
    toolExecutor: ({ parameters }) => parameters,
    toolCallRules: [
      {
        id: "quote-what-you-read",
        after_tool: "library/search",
        limited_tools: ["library/open"],
        max_calls: 2,
        require_one_of: ["library/quote"],
      },
    ],
  },
);

for (const { role, content, payload } of result.messages) console.log(`${role}: ${content || payload.tool_name}`);
