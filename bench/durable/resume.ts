// How long a process that has just started takes until it goes on with a long thread, beside only reading that thread.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { figure, table, times } from "../markdown.ts";
import { median, medianRatio } from "../median.ts";
import type { Section, Size } from "../section.ts";
import { startSubject } from "../subject.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";
import type { Order } from "./resume-process.ts";

/** Each turn leaves two messages. */
const TURNS = 500;

const file = new URL("resume-process.ts", import.meta.url);

export const resume: Section = {
  name: "resume",
  title: "Taking up a thread of 1,000 messages in a new process",
  async measure(size: Size) {
    const rounds = size === "quick" ? 3 : 15;
    const { taken, read } = await inTemporaryFolder(async (folder) => {
      const path = join(folder, "crashed.db");
      await leaveBehind(path);
      const samples = { taken: [] as number[], read: [] as number[] };
      for (let round = 0; round < rounds; round++) {
        const copy = join(folder, `${round}.db`);
        await copyFile(path, copy);
        await copyFile(`${path}.lock`, `${copy}.lock`);
        samples.read.push(await inNewProcess({ do: "read", path: copy, turns: TURNS }));
        samples.taken.push(await inNewProcess({ do: "take up", path: copy, turns: TURNS }));
      }
      return samples;
    });
    return {
      targets: [
        {
          says: "Cold resume of a thread of 1,000 messages: at most 2 × reading its tail",
          limit: { atMost: 2 },
          measured: medianRatio(taken, read),
        },
      ],
      tables: [
        table(
          ["Milliseconds in a process that has just started", "", "times reading"],
          [
            ["opens the database and reads the messages", figure(median(read)), times(1)],
            ["opens the database and takes the thread up", figure(median(taken)), times(medianRatio(taken, read))],
          ],
        ),
      ],
      reading,
    };
  },
};

async function leaveBehind(path: string): Promise<void> {
  const subject = startSubject<Order, number>(file);
  await subject.ask({ do: "leave behind", path, turns: TURNS });
  await subject.kill();
  // Everything in one file, so that a copy of it is a copy of the database.
  const database = new DatabaseSync(path);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}

async function inNewProcess(order: Order): Promise<number> {
  const subject = startSubject<Order, number>(file);
  const milliseconds = await subject.ask(order);
  await subject.kill();
  return milliseconds;
}

const reading = `A process was killed while its model was asked for an answer, after ${TURNS} turns. A new one opens the database, frees
the thread from its dead worker, takes it and asks the model, with nothing compiled and nothing in memory; the clock stops when
the model is asked. The other one opens the same file with \`node:sqlite\`, selects the rows of the messages that the model is
shown and parses them. The start of Node and the import of the package are in neither; what the import takes stands further down.`;
