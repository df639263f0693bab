// The environment of plugin processes: an allowlist, so that no secret of the gateway reaches a program it starts.

/** What programs need to find others, and to print dates and texts as the operator reads them. */
const ALWAYS = ["PATH", "HOME", "TZ", "LANG", "LANGUAGE", "TMPDIR"] as const;

const LOCALE_CATEGORIES = [
  ...["ALL", "COLLATE", "CTYPE", "MESSAGES", "MONETARY", "NUMERIC", "TIME"],
  ...["ADDRESS", "IDENTIFICATION", "MEASUREMENT", "NAME", "PAPER", "TELEPHONE"],
];

const ALLOWED: readonly string[] = [...ALWAYS, ...LOCALE_CATEGORIES.map((category) => `LC_${category}`)];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that a plugin process may see: the allowlist and `passthrough` (`service.plugin_env_passthrough`). */
export function pluginEnvironment(environment: Environment, passthrough: readonly string[]): Record<string, string> {
  const names = new Set([...ALLOWED, ...passthrough.filter((name) => !isWithheld(name))]);
  const visible: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined) visible[name] = value;
  }
  return visible;
}

/** True for what no configuration can pass on: Holdfast's own settings, the secret key and tokens among them. */
export function isWithheld(name: string): boolean {
  return name.toUpperCase().startsWith("HOLDFAST_");
}
