// How many steps a call takes, counted rather than timed: the same on every machine, however busy it is.
import { Session } from "node:inspector";

/**
 * Runs each piece of work and returns its steps: every block of code that V8 entered, loop bodies included, and for each
 * built-in that walks over a text or a list as many steps as it walks. A regular expression counts what it walked over
 * once; that it does not go back is what `expressions.test.ts` shows. The work has to be synchronous.
 */
export function countSteps(...works: readonly (() => unknown)[]): readonly number[] {
  const inspector = new Session();
  inspector.connect();
  try {
    inspector.post("Profiler.enable");
    // Makes V8 throw away all it has optimized, so that it is done once for work that is compared.
    inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    takeBlocks(inspector);
    return works.map((work) => countWalks(work) + takeBlocks(inspector));
  } finally {
    inspector.post("Profiler.stopPreciseCoverage");
    inspector.post("Profiler.disable");
    inspector.disconnect();
  }
}

/** The blocks entered since the last look; looking sets the counters to zero. */
function takeBlocks(inspector: Session): number {
  let blocks = 0;
  // A session on its own thread answers before `post` returns.
  inspector.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error) throw error;
    for (const { url, functions } of coverage.result) {
      if (url === import.meta.url || url.startsWith("node:")) continue;
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    }
  });
  return blocks;
}

type Call = (this: unknown, ...values: unknown[]) => unknown;
type Walk = (self: unknown, values: readonly unknown[], result: unknown) => number;

const lengthOf = (value: unknown): number => (typeof value === "string" || Array.isArray(value) ? value.length : 0);
const whole: Walk = (self) => lengthOf(self);
const made: Walk = (_self, _values, result) => lengthOf(result);
const read: Walk = (_self, [value]) => lengthOf(value);

/** From where the search began to where it ended, or to the end of what it searched. */
const searched: Walk = (self, [, from = 0], result) =>
  typeof result === "number" && result >= 0 ? result - Number(from) : lengthOf(self) - Number(from);

const lists = Array.prototype as unknown as Record<PropertyKey, Call>;
const texts = String.prototype as unknown as Record<PropertyKey, Call>;

const walks: readonly (readonly [target: Record<PropertyKey, Call>, names: readonly PropertyKey[], walk: Walk])[] = [
  [texts, ["indexOf"], searched],
  [texts, ["includes", "lastIndexOf", "trim", "trimEnd", "trimStart", "toLowerCase", "toUpperCase"], whole],
  [texts, ["normalize", "split", "replaceAll", "isWellFormed", "toWellFormed", Symbol.iterator], whole],
  [texts, ["repeat", "padEnd", "padStart"], made],
  [lists, ["indexOf"], searched],
  [lists, ["includes", "lastIndexOf", "shift", "unshift", "splice", "reverse", "toSorted", "sort"], whole],
  [lists, ["slice", "concat", "flat", "join", "with", "toSpliced"], made],
  [JSON as unknown as Record<PropertyKey, Call>, ["parse"], read],
  [JSON as unknown as Record<PropertyKey, Call>, ["stringify"], made],
  [Buffer as unknown as Record<PropertyKey, Call>, ["from", "byteLength"], read],
  [TextEncoder.prototype as unknown as Record<PropertyKey, Call>, ["encode"], read],
];

function countWalks(work: () => unknown): number {
  let steps = 0;
  const putBack: (() => void)[] = [];
  const replace = (target: object, name: PropertyKey, counted: (original: Call) => Call) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name);
    if (typeof descriptor?.value !== "function") throw new Error(`There is no built-in ${String(name)} to count.`);
    Object.defineProperty(target, name, { ...descriptor, value: counted(descriptor.value) });
    putBack.push(() => Object.defineProperty(target, name, descriptor));
  };
  try {
    for (const [target, names, walk] of walks) {
      for (const name of names) {
        replace(
          target,
          name,
          (original) =>
            function counted(...values) {
              const length = lengthOf(this);
              const result = Reflect.apply(original, this, values);
              steps += 1 + (walk === whole ? length : walk(this, values, result));
              return result;
            },
        );
      }
    }
    // All methods of texts and expressions that match go through `exec` once it is not the built-in any more.
    replace(
      RegExp.prototype,
      "exec",
      (original) =>
        function counted(text) {
          const expression = this as RegExp;
          const from = expression.global || expression.sticky ? expression.lastIndex : 0;
          const match = Reflect.apply(original, expression, [text]) as RegExpExecArray | null;
          if (match) steps += 1 + match.index + match[0].length - from;
          else steps += 1 + (expression.sticky ? 0 : Math.max(0, String(text).length - from));
          return match;
        },
    );
    work();
  } finally {
    for (const restore of putBack) restore();
  }
  return steps;
}
