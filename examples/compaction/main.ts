// A long conversation is shortened before the model is asked: what is old becomes a summary.
import { type Message, runConversation } from "holdfast";
import { says, scriptedModel } from "holdfast/testing";

const history = ["My name is Ana.", "Nice to meet you.", "I like tea.", "Noted.", "And what is my name?"];
const messages = history.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));

const result = await runConversation(messages, scriptedModel([says("Ana.")]), {
  compactionPolicy: { enabled: true, max_messages: 4, recent_messages: 2 },
  summarizer: (old: readonly Message[]) => `${old.length} messages: the user is Ana and likes tea.`,
});

for (const { role, content } of result.messages) console.log(`${role}: ${content}`);
for (const { type } of result.events ?? []) console.log(`event ${type}`);
