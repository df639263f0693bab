// An ability is an operation that has a name: whoever may use it finds it here, whatever door the request came through.
import { trimmed } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../json.ts";

/** An operation with a name. Input and context are plain values; what `execute` returns is handed on as it is. */
export type Ability = {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly category?: string;
  /** JSON Schemas, for those who offer the ability to a model or a person. */
  readonly inputSchema?: UnknownMap;
  readonly outputSchema?: UnknownMap;
  readonly annotations?: { readonly readonly?: boolean; readonly destructive?: boolean; readonly idempotent?: boolean };
  /** Besides what the host keeps here, `sensitive_parameters` and `parameter_sensitivity` name what is never shown. */
  readonly meta?: UnknownMap;
  /** True lets the call through, anything else refuses it; an operation error says why. May answer later. */
  readonly permission?: (input: JsonMap, context: JsonMap) => unknown;
  /** Does the work. May answer later, and refuses by returning an operation error. */
  readonly execute: (input: JsonMap, context: JsonMap, options: AbilityOptions) => unknown;
};

/** What an ability is given beside its input. */
export type AbilityOptions = {
  readonly signal?: AbortSignal;
  /** Calls another ability on behalf of the same caller: the same hooks stand before it. */
  readonly dispatch: (name: unknown, parameters: unknown) => Promise<unknown>;
};

/** The ability that calls another by its name. Whatever guards the other has to hold here too. */
export const ABILITY_CALL = "agents/ability-call";

/** What callers of abilities ask of a registry. */
export interface Abilities {
  get(name: string): Ability | undefined;
  list(): readonly Ability[];
}

/** A registry that can grow while it is in use. */
export interface AbilityRegistry extends Abilities {
  /** Adds an ability and returns a function that removes it; throws `invalid_ability` for one that cannot be added. */
  register(ability: Ability): () => void;
}

/** A registry with these abilities, listed in the order they were added. Throws `invalid_ability`. */
export function createAbilities(abilities: readonly Ability[] = []): AbilityRegistry {
  const registered = new Map<string, Ability>();

  function register(ability: Ability): () => void {
    const entry = settled(ability);
    const { name } = entry;
    if (registered.has(name)) throw holdfastError("invalid_ability", `name "${name}" is taken`);
    registered.set(name, entry);
    return () => {
      // Somebody else may have taken the name since.
      if (registered.get(name) === entry) registered.delete(name);
    };
  }

  for (const ability of abilities) register(ability);
  return {
    get: (name) => registered.get(name),
    list: () => [...registered.values()],
    register,
  };
}

/** The ability as it is now: what is redacted and permitted must not change under those who rely on it. */
function settled(ability: Ability): Ability {
  if (!isMap(ability)) throw holdfastError("invalid_ability", "ability must be a map");
  const { name, execute, permission, inputSchema, outputSchema, annotations, meta } = ability;
  // Names are trimmed wherever they are looked up, so a padded one could never be found.
  if (typeof name !== "string" || name !== trimmed(name)) {
    throw holdfastError("invalid_ability", "name must be a non-empty string without space around it");
  }
  if (typeof execute !== "function") throw holdfastError("invalid_ability", `execute of "${name}" must be a function`);
  if (permission !== undefined && typeof permission !== "function") {
    throw holdfastError("invalid_ability", `permission of "${name}" must be a function`);
  }
  return Object.freeze({
    ...ability,
    name,
    ...(inputSchema !== undefined && { inputSchema: snapshotMap(inputSchema) }),
    ...(outputSchema !== undefined && { outputSchema: snapshotMap(outputSchema) }),
    ...(annotations !== undefined && { annotations: snapshotMap(annotations) }),
    ...(meta !== undefined && { meta: snapshotMap(meta) }),
    ...(permission !== undefined && { permission: permission.bind(ability) }),
    execute: execute.bind(ability),
  });
}
