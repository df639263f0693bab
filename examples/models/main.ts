// A model that is out of order and one that takes over from it, what that costs, and an answer in a form.
import { agent, createHoldfast, type Model } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { z } from "zod";

// Real ones are named: model: ["anthropic/claude-sonnet-4-5", "openai/gpt-5"]. These two need no network.
const outOfOrder: Model = () => {
  throw Object.assign(new Error("Overloaded, try again later."), { status: 503 });
};
const weatherStation: Model = (_messages, _context, { output }) => ({
  content: JSON.stringify({ city: "Graz", degrees: output ? 21 : "mild" }),
  usage: { prompt_tokens: 120, completion_tokens: 12, total_tokens: 132 },
});

const reporter = agent({
  slug: "reporter",
  instructions: "You report the weather.",
  model: [outOfOrder, { model: weatherStation, price: { input: 0.25, output: 2 } }],
  retry: { attempts: 2, backoffMs: 10 },
  output: z.object({ city: z.string(), degrees: z.number() }),
  limits: { steps: 5, tokens: 20_000 },
});

const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [reporter] });
const thread = await holdfast.threads.open("weather", { agent: "reporter" });
const outcome = await thread.send("How is the weather in Graz?");
console.log(outcome.structured_output);
console.log(`${outcome.usage.total_tokens} tokens, ${outcome.cost_usd} dollars`);
await holdfast.close();
