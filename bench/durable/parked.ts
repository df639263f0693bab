// How much memory a thread keeps that waits for a person.
import { figure, table } from "../markdown.ts";
import { median } from "../median.ts";
import type { Section, Size } from "../section.ts";
import { startSubject } from "../subject.ts";
import type { Order } from "./parked-process.ts";

/** An entry of a map that held nothing but the thread's id would take more than this. */
const LEAST_RETAINED = 50;

/** Before it is looked, everything is compiled and every cache is filled. */
const sizes = {
  full: { before: 4_000, step: 2_000, steps: 5 },
  quick: { before: 2_500, step: 500, steps: 5 },
} as const;

export const parked: Section = {
  name: "parked",
  title: "Memory of threads that wait",
  async measure(size: Size) {
    const { before, step, steps } = sizes[size];
    const subject = startSubject<Order, number>(new URL("parked-process.ts", import.meta.url), {
      flags: ["--expose-gc"],
    });
    await subject.ask({ threads: before - step });
    const heaps: number[] = [];
    for (let index = 0; index <= steps; index++) heaps.push(await subject.ask({ threads: step }));
    await subject.end();
    const more = heaps.slice(1).map((bytes, index) => (bytes - (heaps[index] ?? 0)) / step);
    return {
      targets: [
        {
          says: "No memory is kept for a parked thread",
          limit: { atMost: LEAST_RETAINED },
          measured: median(more),
          unit: "bytes",
        },
      ],
      tables: [
        table(
          ["Threads that wait for an approval", "heap in KB after collection", "bytes a thread more"],
          heaps.map((bytes, index) => [
            (before + index * step).toLocaleString("en"),
            figure(bytes / 1024),
            index === 0 ? "–" : figure(more[index - 1] ?? Number.NaN),
          ]),
        ),
      ],
      reading,
    };
  },
};

const reading = `Each thread asks for an approval and waits, in one process that holds no handle of it. The heap is measured after
full collections. What compilers and caches keep moves it by some kilobytes either way, so the median of the steps counts; less
than ${LEAST_RETAINED} bytes a thread is less than an entry that held nothing but its id, and counts as none.`;
