// What a turn of the loop costs beside the AI SDK's, whether it stays so in long conversations, and what policies cost.
import { writeFile } from "node:fs/promises";
import { measure } from "./measure.ts";
import { lengths, page, SAMPLE, subjects, tables } from "./report.ts";
import { measureVisibility } from "./visibility.ts";

const isQuick = process.argv.includes("--quick");
const rounds = isQuick ? 3 : 9;

const timings = await measure({
  subjects,
  lengths,
  rounds,
  warmUps: isQuick ? 2 : 3,
  turnsPerSample: isQuick ? Math.max(...lengths) : SAMPLE,
});
const visibility = await measureVisibility(isQuick ? 5 : 25);
console.log(tables(timings, visibility));
if (!isQuick) await writeFile(new URL("RESULTS.md", import.meta.url), page(timings, visibility, rounds));
