// What it costs to take a run up again, as it grows: each of its steps is a wait, for which the lease is given back.
import { figure, table, times } from "../markdown.ts";
import type { Section, Size } from "../section.ts";
import { type Compared, compare, withContestants } from "./compare.ts";
import type { Shape } from "./shapes.ts";

const shapes: Readonly<Record<Size, readonly Shape[]>> = {
  full: [
    { of: "sleeps", count: 1_000 },
    { of: "sleeps with lists", count: 100, items: 100 },
  ],
  quick: [
    { of: "sleeps", count: 300 },
    { of: "sleeps with lists", count: 100, items: 10 },
  ],
};

export const workflowSleeps: Section = {
  name: "sleeps",
  title: "A workflow that sleeps a thousand times",
  async measure(size) {
    const place = { database: "sqlite", synchronous: "full" } as const;
    const found = await withContestants(async (contestants) => {
      const all: Compared[] = [];
      for (const shape of shapes[size]) {
        all.push(await compare(contestants, { place, shape, rounds: size === "full" ? 3 : 1, bare: "one by one" }));
      }
      return all;
    });
    const [first] = found;
    return {
      targets: [
        {
          says: `Sleep ${first?.shape.count.toLocaleString("en")} of a run at most 1.2 × as long as sleep 10`,
          limit: { atMost: 1.2 },
          measured: first?.growth,
        },
      ],
      tables: [curve(found)],
      reading,
    };
  },
};

function curve(compared: readonly Compared[]): string {
  const places = [10, 100, 1_000, 10_000];
  return table(
    ["Microseconds of a sleep", ...places.map((sleep) => `sleep ${figure(sleep)}`), "last / sleep 10", "times bare"],
    compared.map(({ shape, at, growth, ratio }) => [
      whatIs(shape),
      ...places.map((sleep) => figure(at[sleep] ?? Number.NaN)),
      times(growth),
      times(ratio),
    ]),
  );
}

function whatIs(shape: Shape): string {
  const count = shape.count.toLocaleString("en");
  return shape.of === "sleeps with lists"
    ? `${count} sleeps, a list of ${shape.items} items before each`
    : `${count} sleeps`;
}

const reading = `Each sleep is over when the clock is moved, which the benchmark holds: the run is claimed, loaded, carried on to the next
sleep, and given back. What it has done before must not be read for that; its spec is,
so that a sleep of a spec with ten thousand steps costs more than one of a spec with a thousand, from the first to the last. A sleep behind a list of items also has these in it: a
claim or two, and a commit for each item.`;
