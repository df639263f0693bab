// A prompt as something that can be called: models see it like any other tool, and the machine lets it speak.
import type { JsonMap } from "../../contracts/json.ts";
import type { Prompt } from "../definitions/prompt.ts";
import { type Tool, tool } from "../tool.ts";

const made = new WeakMap<Prompt, Tool>();

export function promptTool(prompt: Prompt): Tool {
  const known = made.get(prompt);
  if (known) return known;
  const { name, toolDescription, requiredSchema } = prompt;
  const created = tool({
    name,
    description: toolDescription || `Uses the prompt ${name}.`,
    ...(requiredSchema && { inputSchema: requiredSchema.json }),
    idempotent: true,
    // The machine asks the prompt; nobody runs it.
    execute: (): JsonMap => {
      throw new Error(`The prompt ${name} speaks for itself.`);
    },
  });
  made.set(prompt, created);
  return created;
}
