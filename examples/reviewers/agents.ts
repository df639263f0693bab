// An editor, and pairs of reviewers that converse with each other. The models are functions of what they are shown and of
// nothing else: a process that starts in the middle has them go on where another one has fallen.
import { agent, type Message, type Model, prompt, tool } from "holdfast";
import { callsTool, says } from "holdfast/testing";

export const POEM = "/attachments/poem.txt";
const team = ["Ana", "Ben", "Cy"];

const chat = { includeChat: true, includePastTools: true };
const wordsOf = (message?: Message) =>
  message?.type === "tool_result" ? JSON.stringify(message.payload.result) : String(message?.content);
const resultsOf = (messages: readonly Message[], name: string) =>
  messages.filter(({ type, payload }) => type === "tool_result" && payload.tool_name === name);

/** The file that was named last, and the id. */
export const lastPath = (messages: readonly Message[]) =>
  messages
    .map(wordsOf)
    .join(" ")
    .match(/\/attachments\/[\w-]+\.txt/g)
    ?.at(-1) ?? POEM;
const idIn = (message?: Message) => /[0-9a-f-]{36}/.exec(wordsOf(message))?.[0] ?? "";

/** `onWriting` is told of every line that is about to be written. */
export function createTeam(onWriting: (line: string) => Promise<void>) {
  const addLine = tool({
    name: "add_line",
    description: "Adds a line to the poem.",
    inputSchema: { type: "object", properties: { path: { type: "string" }, line: { type: "string" } } },
    idempotent: true, // the file is committed with the result of the call, or not at all
    async execute({ path, line }, { state }) {
      await onWriting(String(line));
      const poem = await state.readFile(String(path));
      await state.writeFile(POEM, `${new TextDecoder().decode(poem ?? undefined)}${line}\n`);
      return "Added.";
    },
  });
  const handIn = tool({
    name: "hand_in",
    description: "Ends the review.",
    idempotent: true,
    execute: () => "Thank you.",
  });

  const reads: Model = (messages) => {
    const said = wordsOf(messages.at(-1));
    if (said === "It will do.") return callsTool("hand_in", { text: "It is in order.", poem: [POEM] });
    const [, task] = /^(.*) with /.exec(said) ?? [];
    return task ? callsTool("add_line", { path: lastPath(messages), line: `(${task})` }) : says("Will it do?");
  };
  const reviewers = agent({
    name: "reviewers",
    type: "dual_ai",
    sideA: {
      prompt: prompt({ name: "reader", prompt: "You read.", model: reads, tools: [addLine, handIn], ...chat }),
      sessionStop: { name: "hand_in", messageProperty: "text", attachmentsProperty: "poem" },
    },
    sideB: { prompt: prompt({ name: "critic", prompt: "You judge.", model: () => says("It will do."), ...chat }) },
    maxSessionTurns: 3,
    exposeAsTool: true,
    toolDescription: "Two who review a poem together.",
  });

  // The editor has three pairs read, one after another, and in the end writes to the first one once more.
  const leads: Model = (messages) => {
    const path = lastPath(messages);
    const created = resultsOf(messages, "subagent_create");
    const name = team[created.length];
    if (name) {
      const message = `${name} begins with ${path}`;
      return callsTool("subagent_create", { agent: "reviewers", name, message, attachments: [path] });
    }
    if (resultsOf(messages, "subagent_message").length === 0) {
      const message = `Ana ends with ${path}`;
      return callsTool("subagent_message", { referenceId: idIn(created[0]), message, attachments: [path] });
    }
    return says(wordsOf(messages.at(-1)).includes("has finished") ? "It can be printed." : "Ana is at it.");
  };
  const pairs = { name: "reviewers", resumable: { maxInstances: team.length } };
  const editor = agent({
    name: "editor",
    sideA: { prompt: prompt({ name: "leads", prompt: "You lead.", model: leads, tools: [pairs], ...chat }) },
  });
  return [editor, reviewers];
}
