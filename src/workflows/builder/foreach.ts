// A step whose steps run for each item of a list.
import { invalid } from "./place.ts";
import { type Reference, type ReferenceTo, reference } from "./reference.ts";
import { newStep, type Step } from "./step.ts";
import { describeList, type Listed, type NoOutputs, newList, type Steps } from "./step-list.ts";
import type { Expression, Resolved } from "./values.ts";
import { written } from "./written.ts";

/** A failure that was tolerated, as it stands in an output. */
export type Failed = { readonly error: { readonly code: string; readonly message: string; readonly data: unknown } };

/** What the steps of an item are described with. */
export type ItemScope<Item> = {
  readonly item: Reference<Item>;
  /** Counted from 0. */
  readonly index: Reference<number>;
};

type ListOfItems = ReferenceTo<readonly unknown[]> | readonly Expression[];

type ItemOf<Items extends ListOfItems> = Resolved<Items> extends readonly (infer Item)[] ? Item : never;

type NullIf<Tolerant> = Tolerant extends true ? null : never;

type FailedIf<Tolerant> = Tolerant extends true ? Failed : never;

/** The outputs of all items, in their order. */
export type ForeachOutput<Item, Outputs, Last, Tolerant = false> = {
  readonly count: number;
  readonly iterations: readonly {
    readonly index: number;
    readonly item: Item;
    readonly steps: { readonly [Id in keyof Outputs]: Outputs[Id] | FailedIf<Tolerant> };
    readonly last: Last | FailedIf<Tolerant>;
  }[];
};

export type ForeachOptions<Tolerant extends boolean> = {
  /** How many items at the same time, at most 100; one unless given. */
  readonly concurrency?: number;
  /** Whether steps go on behind one that failed. Its output is then `{ error }`, and null for those that refer to it. */
  readonly continueOnError?: Tolerant;
};

/** The steps run for each item. They see what was there outside as well. */
export function foreach<Items extends ListOfItems, Outputs, Last, Tolerant extends boolean = false>(
  items: Items,
  steps: (each: Steps<ItemScope<ItemOf<Items>>, NoOutputs, never, NullIf<Tolerant>>) => Listed<Outputs, Last>,
  { concurrency, continueOnError, ...unknown }: ForeachOptions<Tolerant> = {},
): Step<ForeachOutput<ItemOf<Items>, Outputs, Last, Tolerant>, "parts"> {
  return newStep("parts", (place) => {
    checkOptions(concurrency, unknown);
    const [as, index_as] = [freeName("item", place.variables), freeName("index", place.variables)];
    const owner = {};
    const scope = { item: reference(owner, `vars.${as}`), index: reference(owner, `vars.${index_as}`) };
    const inside = { ...place, variables: new Set([...place.variables, as, index_as]) };
    const list = describeList(newList(inside, owner, scope), steps);
    const step = {
      type: "foreach",
      items: written(items),
      ...(as !== "item" && { as, index_as }),
      ...(concurrency !== undefined && { concurrency }),
      ...(continueOnError && { continue_on_error: true }),
      steps: list.steps,
    };
    return { step, needs: list.needs };
  });
}

/** A `foreach` in another one names its items differently, so that those of the outer one can still be named. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(free)) return free;
  }
}

function checkOptions(concurrency: number | undefined, unknown: object): void {
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw invalid(`${key} means nothing here`);
  if (concurrency === undefined) return;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 100) {
    throw invalid("concurrency is a whole number from 1 to 100");
  }
}
