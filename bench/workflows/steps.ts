// What a step of a durable workflow costs beside the bare database, and whether it stays so in long runs.
import { figure, table, times } from "../markdown.ts";
import { postgresUrl } from "../postgres-server.ts";
import type { Section, Size, Target } from "../section.ts";
import { type Compared, compare, type Plan, withContestants } from "./compare.ts";
import type { Shape } from "./shapes.ts";

/** How many rounds at which length, on each database. */
const rounds: Readonly<
  Record<Size, { readonly sqlite: Record<number, number>; readonly postgres: Record<number, number> }>
> = {
  full: { sqlite: { 10: 15, 100: 15, 1000: 9, 10000: 5 }, postgres: { 10: 9, 100: 9, 1000: 5, 10000: 3 } },
  quick: { sqlite: { 10: 3, 100: 3, 1000: 2 }, postgres: { 10: 2, 100: 2, 300: 1 } },
};
/** The length at which the targets are looked at. */
const judgedAt: Readonly<Record<Size, { readonly sqlite: number; readonly postgres: number }>> = {
  full: { sqlite: 1000, postgres: 1000 },
  quick: { sqlite: 1000, postgres: 300 },
};

const others: Readonly<Record<Size, readonly Shape[]>> = {
  full: [
    { of: "items", count: 1_000, concurrency: 1 },
    { of: "items", count: 1_000, concurrency: 20 },
    { of: "runs", count: 1_000, steps: 5 },
  ],
  quick: [
    { of: "items", count: 200, concurrency: 1 },
    { of: "items", count: 200, concurrency: 20 },
    { of: "runs", count: 200, steps: 5 },
  ],
};

export const workflowSteps: Section = {
  name: "steps",
  title: "A step of a durable workflow",
  async measure(size) {
    const sqlite = { place: { database: "sqlite", synchronous: "full" }, bare: "one by one" } as const;
    const postgres = { place: { database: "postgres", url: await postgresUrl() }, bare: "at once" } as const;
    return await withContestants(async (contestants) => {
      const measure = async (plans: readonly Plan[]) => {
        const found: Compared[] = [];
        for (const plan of plans) found.push(await compare(contestants, plan));
        return found;
      };
      const onSqlite = await measure(lengths(sqlite, rounds[size].sqlite));
      const onPostgres = await measure(lengths(postgres, rounds[size].postgres));
      const [many, fewer] = size === "full" ? [5, 3] : [1, 1];
      const rest = await measure([
        ...others[size].map((shape) => ({ ...sqlite, shape, rounds: many })),
        ...others[size].map((shape) => ({ ...postgres, shape, rounds: fewer })),
      ]);
      return {
        targets: [
          ...targets("SQLite (FULL)", onSqlite, judgedAt[size].sqlite),
          ...targets("PostgreSQL", onPostgres, judgedAt[size].postgres),
        ],
        tables: [costs([...onSqlite, ...onPostgres]), curve([...onSqlite, ...onPostgres]), costs(rest)],
        reading,
      };
    });
  },
};

function lengths(where: Pick<Plan, "place" | "bare">, counts: Readonly<Record<number, number>>): readonly Plan[] {
  return Object.entries(counts).map(([count, rounds]) => {
    return { ...where, shape: { of: "steps", count: Number(count) }, rounds };
  });
}

function targets(database: string, compared: readonly Compared[], judged: number): readonly Target[] {
  const last = compared.at(-1);
  return [
    {
      says: `${database}: a step of a workflow at most 2 × the bare commits of its rows, at ${judged.toLocaleString("en")} steps`,
      limit: { atMost: 2 },
      measured: compared.find(({ shape }) => shape.count === judged)?.ratio,
    },
    {
      says: `${database}: step ${last?.shape.count.toLocaleString("en")} of a run at most 1.2 × as long as step 10`,
      limit: { atMost: 1.2 },
      measured: last?.growth,
    },
  ];
}

function costs(compared: readonly Compared[]): string {
  return table(
    ["Microseconds a step", "Holdfast", "the bare database", "ratio", "ratio of processor time"],
    compared.map((each) => [
      nameOf(each),
      figure(each.holdfast),
      figure(each.bare),
      times(each.ratio),
      times(each.processorRatio),
    ]),
  );
}

function curve(compared: readonly Compared[]): string {
  const places = [10, 100, 1_000, 10_000];
  const longest = ["sqlite", "postgres"].map((name) => compared.findLast(({ place }) => place.database === name));
  return table(
    ["Microseconds of a step of one long run", ...places.map((step) => `step ${figure(step)}`), "last / step 10"],
    longest
      .filter((each) => each !== undefined)
      .map((each) => [nameOf(each), ...places.map((step) => figure(each.at[step] ?? Number.NaN)), times(each.growth)]),
  );
}

function nameOf({ place, shape }: Compared): string {
  return `${place.database === "sqlite" ? "SQLite (FULL)" : "PostgreSQL"}, ${whatIs(shape)}`;
}

function whatIs(shape: Shape): string {
  const count = shape.count.toLocaleString("en");
  if (shape.of === "items") return `foreach over ${count} items, ${shape.concurrency} at a time`;
  if (shape.of === "runs") return `${count} runs of ${shape.steps} steps at once`;
  return `${count} steps`;
}

const reading = `A **step** is a function that does nothing, with a small input and a small output. That it ends and that the next one
begins is one commit: what it has returned, sealed, the next one with its input, both in the ledger of calls, and the record of
all that, before anything of the next one runs. The **bare database** writes exactly the statements that Holdfast wrote, in as
many transactions: on SQLite one after another, on PostgreSQL each with all up to COMMIT sent at once. Runs and replay take
turns, each in a process of its own that has carried out thousands of steps before. **Processor time** is what the process
itself has used; that of the server of PostgreSQL is in neither.

What a step costs **at a place of the run** is the median over those around it. Of items that are carried out beside each other,
and of runs at once, many end with one commit: the bare database then has next to nothing to do for each.

What Holdfast adds to a step is work of the processor, as with a turn of a thread, and most of it is SQLite's own: of its time a
profile finds nearly half in binding and committing the statements, a tenth in collecting garbage, a tenth in sealing and hashing
what is stored, and no more than one part in a hundred in any other function. The faster the disk, the larger the ratio.`;
