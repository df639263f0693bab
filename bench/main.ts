// What a step of a durable thread costs beside the bare database, what a turn of the loop costs beside the AI SDK's, whether
// both stay so in long conversations, and what policies cost.
import { writeFile } from "node:fs/promises";
import { measureDurable } from "./durable.ts";
import { measure } from "./measure.ts";
import { lengths, page, SAMPLE, subjects, tables } from "./report.ts";
import { measureVisibility } from "./visibility.ts";

const isQuick = process.argv.includes("--quick");
const rounds = isQuick ? 3 : 9;

const durable = await measureDurable(isQuick ? { rounds: 3, late: 2_000 } : { rounds: 9 });
const timings = await measure({
  subjects,
  lengths,
  rounds,
  warmUps: isQuick ? 2 : 3,
  turnsPerSample: isQuick ? Math.max(...lengths) : SAMPLE,
});
const visibility = await measureVisibility(isQuick ? 5 : 25);
const figures = { durable, timings, visibility };
console.log(tables(figures));
if (!isQuick) await writeFile(new URL("RESULTS.md", import.meta.url), page(figures, rounds));
