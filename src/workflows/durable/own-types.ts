// The types of steps beside those of the contract that a run carries out itself, unless the host has a handler for them.

const OWN = ["sleep", "branch", "wait", "workflow"] as const;

export function ownTypes(handlers: Readonly<Record<string, unknown>> = {}): ReadonlySet<string> {
  return new Set(OWN.filter((type) => !Object.hasOwn(handlers, type)));
}
