// What a turn of the loop costs, beside the AI SDK's, and whether it stays so in long conversations.
import { writeFile } from "node:fs/promises";
import { measure } from "./measure.ts";
import { lengths, page, SAMPLE, subjects, tables } from "./report.ts";

const isQuick = process.argv.includes("--quick");
const rounds = isQuick ? 3 : 9;

const timings = await measure({
  subjects,
  lengths,
  rounds,
  warmUps: isQuick ? 2 : 3,
  turnsPerSample: isQuick ? Math.max(...lengths) : SAMPLE,
});
console.log(tables(timings));
if (!isQuick) await writeFile(new URL("RESULTS.md", import.meta.url), page(timings, rounds));
