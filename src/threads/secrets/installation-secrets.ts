// What an installation is given and never shows: the secrets among its variables, whoever reads or quotes them.
import type { Registry } from "../definitions/registry.ts";
import type { Host } from "../host.ts";
import { createKnownSecrets, type KnownSecrets } from "./known-secrets.ts";
import { isSecretName } from "./secret-marks.ts";

const known = new WeakMap<Host["env"], KnownSecrets>();

/** Those that somebody declares as such, and those whose names give them away unless they are declared as text. */
export function installationSecrets({ env, registry }: Pick<Host, "env" | "registry">): KnownSecrets {
  const before = known.get(env);
  if (before) return before;
  const secrets = createKnownSecrets();
  const { declared, texts } = declaredIn(registry);
  for (const [name, value] of Object.entries(env)) {
    if (declared.has(name) || (isSecretName(name) && !texts.has(name))) secrets.add(value);
  }
  known.set(env, secrets);
  return secrets;
}

function declaredIn(registry: Registry): { readonly declared: Set<string>; readonly texts: Set<string> } {
  const declared = new Set<string>();
  const texts = new Set<string>();
  for (const agent of registry.agents.values()) {
    for (const { name, type } of registry.variablesOf(agent)) (type === "secret" ? declared : texts).add(name);
  }
  return { declared, texts };
}
