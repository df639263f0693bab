// A part of the benchmark: what it measures, what it promises, and how its figures are to be read.

/** `full` is what the page of results is written from; `quick` shows in under two minutes that nothing has gone astray. */
export type Size = "full" | "quick";

/** A promise in figures, with what was found. */
export type Target = {
  readonly says: string;
  readonly limit: { readonly atMost: number } | { readonly atLeast: number };
  /** Undefined where it could not be measured. */
  readonly measured: number | undefined;
  /** What the figures are; times, unless said. */
  readonly unit?: string;
};

export type Findings = {
  readonly targets: readonly Target[];
  /** Tables and sentences with figures, as Markdown. */
  readonly tables: readonly string[];
  /** What was done and what it means, as Markdown. */
  readonly reading: string;
  /** Of what was used beside Node. */
  readonly versions?: Readonly<Record<string, string>>;
};

export type Section = {
  /** For `--only`. */
  readonly name: string;
  readonly title: string;
  readonly measure: (size: Size) => Promise<Findings>;
};
