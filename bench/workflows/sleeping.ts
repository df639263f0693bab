// What ten thousand sleeping runs take: memory, and claims.
import { figure, table } from "../markdown.ts";
import { median } from "../median.ts";
import type { Section, Size } from "../section.ts";
import { startSubject } from "../subject.ts";
import type { Answer, Order } from "./sleeping-process.ts";

/** An entry of a map that held nothing but the run's id would take more than this. */
const LEAST_RETAINED = 50;

/** Before it is looked, everything is compiled and every cache is filled. */
const sizes = {
  full: { before: 4_000, step: 1_200, steps: 5, woken: 100 },
  quick: { before: 1_000, step: 300, steps: 4, woken: 20 },
} as const;

export const workflowsSleeping: Section = {
  name: "sleeping",
  title: "Ten thousand sleeping workflows",
  async measure(size: Size) {
    const { before, step, steps, woken } = sizes[size];
    const file = new URL("sleeping-process.ts", import.meta.url);
    const subject = startSubject<Order, Answer>(file, { flags: ["--expose-gc"] });
    await subject.ask({ runs: woken, hours: 1 });
    await subject.ask({ runs: before - woken - step, hours: 1_000 });
    const found: Answer[] = [];
    for (let index = 0; index <= steps; index++) found.push(await subject.ask({ runs: step, hours: 1_000 }));
    const last = found.at(-1);
    const after = await subject.ask({ wakeUpTo: woken });
    await subject.end();
    const more = found.slice(1).map(({ heap }, index) => (heap - (found[index]?.heap ?? 0)) / step);
    const total = before + step * steps;
    return {
      targets: [
        {
          says: `${total.toLocaleString("en")} sleeping workflows: no memory is kept for one`,
          limit: { atMost: LEAST_RETAINED },
          measured: median(more),
          unit: "bytes",
        },
        {
          says: `Waking ${woken} of ${total.toLocaleString("en")} sleeping workflows takes one claim each`,
          limit: { atMost: 1 },
          measured: (after.claims - (last?.claims ?? 0)) / woken,
          unit: "",
        },
      ],
      tables: [
        table(
          ["Runs that sleep", "heap in KB after collection", "bytes a run more", "claims a run"],
          found.map(({ heap, claims }, index) => [
            (before + index * step).toLocaleString("en"),
            figure(heap / 1024),
            index === 0 ? "–" : figure(more[index - 1] ?? Number.NaN),
            figure(claims / (before + index * step)),
          ]),
        ),
        `${woken} of them were due at once: it took ${figure(after.milliseconds)} milliseconds until all of these had ended.`,
      ],
      reading,
    };
  },
};

const reading = `Each run has carried out a step and sleeps, in one process that holds no handle of it. The heap is measured after full
collections, and the median of the steps counts, as with threads that wait. A run is claimed once to begin, and once when its
sleep is over; nothing looks at it in between.`;
