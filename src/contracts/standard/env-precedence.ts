// Where the value of a variable comes from when several places have one. What was set for a thread, a user or this
// installation comes before what definitions say, which are only defaults.

export type Values = Readonly<Record<string, string | undefined>>;

/** The places from the one that counts most to the one that counts least. `tool`: values in the entry of a tool. */
const ORDER = ["thread", "user", "instance", "agent", "tool", "prompt"] as const;

export type Layer = (typeof ORDER)[number];

export type Layers = { readonly [Name in Layer]?: Values | undefined };

/** The value and where it was found; an empty text is a value too. */
export function resolveVariable(
  name: string,
  layers: Layers,
): { readonly value: string; readonly from: Layer } | undefined {
  for (const from of ORDER) {
    const values = layers[from];
    // Only what was put there: every map also knows words such as constructor.
    const value = values && Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) return { value, from };
  }
  return undefined;
}

const ON: ReadonlySet<string> = new Set(["true", "1", "yes"]);

/** True for `true`, `1` and `yes`, in capitals or not, with space around it or not; nothing else switches a flag on. */
export function isFlagOn(value: string | undefined): boolean {
  return value !== undefined && ON.has(value.trim().toLowerCase());
}
