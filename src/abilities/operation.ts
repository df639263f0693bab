// An operation of the runtime as an ability: what goes in and comes out as schemas, what it takes to be allowed, and the
// doors it may be used through. Doors show it and call it; what it means is here and nowhere else.
import { z } from "zod";
import type { Ability, AbilityOptions } from "../contracts/abilities/ability.ts";
import { holdfastError } from "../contracts/error.ts";
import { type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import { brief } from "./brief-refusal.ts";
import type { Capability } from "./capabilities.ts";
import type { KeyedWrite } from "./once.ts";

/**
 * `model`: offered to models as a tool. `workflow`: called by steps of workflows. Nothing that decides for people is offered
 * through either.
 */
export type Door = "http" | "cli" | "mcp" | "model" | "workflow";

const usualDoors: readonly Door[] = ["http", "cli"];

/** What decides for people, or for the installation: a run must not agree to what it proposes itself. */
const decidingCapabilities: ReadonlySet<Capability> = new Set([
  ...(["approvals.decide", "requests.answer", "tokens.manage", "operate"] as const),
]);

/** Steps call what is offered over HTTP, unless it decides, or answers with what no step can keep. */
function doorsOf({
  doors = usualDoors,
  capability,
  forSteps = true,
}: Pick<OperationDefinition<z.ZodType, z.ZodType>, "doors" | "capability" | "forSteps">): readonly Door[] {
  const isForSteps = forSteps && doors.includes("http") && !decidingCapabilities.has(capability);
  return isForSteps ? [...doors, "workflow"] : doors;
}

/** Where it is found over HTTP beside its name: parameters of the path, the query and the body are one input. */
export type Route = {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With the names of input fields in braces, such as `/threads/{thread_id}`. */
  readonly path: string;
  /** What a success is answered with; 200 unless given. A function where it depends on the answer. */
  readonly status?: 201 | 202 | ((answer: unknown) => 200 | 202);
  /** Codes of refusals that this route answers with 400, whatever status they have elsewhere. */
  readonly badRequests?: readonly string[];
};

/** Who calls, and how. */
export type Caller = {
  readonly principal: Principal;
  readonly door: Door;
  /** Makes a repeat of the same write the same write. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** Calls another ability on behalf of the same caller. */
  readonly dispatch: AbilityOptions["dispatch"];
};

export type OperationDefinition<Input extends z.ZodType, Output extends z.ZodType> = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** `read` changes nothing, `write` adds or changes, `destroy` takes away or cannot be taken back. */
  readonly effect: "read" | "write" | "destroy";
  /** True when a second time changes nothing more; reads always are. */
  readonly idempotent?: boolean;
  readonly capability: Capability;
  /** Another capability that is enough as well; `mayCall` says for what. */
  readonly orCapability?: Capability;
  readonly doors?: readonly Door[];
  /** False for what a step cannot call: it answers with a stream, or waits for a run that may be the step's own. */
  readonly forSteps?: boolean;
  /** True for a read that may take long: it is over when the caller leaves. */
  readonly waits?: boolean;
  readonly route?: Route;
  /** Has its own say after the capability; false or an operation error refuses. */
  readonly mayCall?: (input: z.output<Input>, caller: Caller) => Promise<boolean | OperationError>;
  readonly execute: (input: z.output<Input>, caller: Caller) => Promise<z.input<Output> | OperationError>;
};

/** An ability with what doors need to show it. */
export type Operation = Ability & {
  readonly title: string;
  readonly capability: Capability;
  readonly orCapability?: Capability;
  readonly effect: OperationDefinition<z.ZodType, z.ZodType>["effect"];
  readonly doors: readonly Door[];
  readonly waits?: boolean;
  readonly route?: Route;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
};

/** What operations are told about the call beside its input: plain JSON, as every ability is. */
export function callContext({ principal: given, door, key }: Omit<Caller, "dispatch" | "signal">): JsonMap {
  // Whoever is permitted is whoever acts, also where a program passes something that it can still change.
  const principal = Object.isFrozen(given) ? given : { ...given };
  return (key === undefined ? { principal, door } : { principal, door, key }) as JsonMap;
}

export type Allows = (principal: Principal, capability: Capability) => Promise<boolean>;

/** Does a write that came with a key once. */
export type Once = (write: KeyedWrite, execute: () => Promise<unknown>) => Promise<unknown>;

/** Builds operations for whom `allows` decides. */
export function operationsFor(allows: Allows, once: Once) {
  /** The key is that of the call which came through a door: what that calls in turn is part of it, and shares its context. */
  const keyed = new WeakSet<JsonMap>();

  return function operation<Input extends z.ZodType, Output extends z.ZodType>(
    definition: OperationDefinition<Input, Output>,
  ): Operation {
    const { name, title, description, effect, capability, orCapability, route } = definition;
    const doors = doorsOf(definition);
    const { mayCall } = definition;
    const enough = orCapability === undefined ? [capability] : [capability, orCapability];
    const isRead = effect === "read";
    const read = (input: UnknownMap) => definition.input.safeParse(input);

    return Object.freeze({
      ...{ name, title, label: title, description, capability, effect, doors },
      ...(orCapability !== undefined && { orCapability }),
      ...(definition.waits === true && { waits: true }),
      ...(route && { route }),
      category: name.startsWith("agents/") ? "agents-api" : "holdfast",
      input: definition.input,
      output: definition.output,
      get inputSchema() {
        return jsonSchema(definition.input, "input");
      },
      get outputSchema() {
        return jsonSchema(definition.output, "output");
      },
      annotations: {
        readonly: isRead,
        destructive: effect === "destroy",
        idempotent: definition.idempotent ?? isRead,
      },
      async permission(input, context) {
        const { principal } = callerOf(context);
        const allowed = await Promise.all(enough.map((each) => allows(principal, each)));
        if (!allowed.includes(true)) return forbidden(name, enough);
        const parsed = mayCall && read(input);
        // What cannot be read is refused when it is executed, and told there what is wrong with it.
        if (!mayCall || !parsed?.success) return true;
        return await mayCall(parsed.data, { ...callerOf(context), dispatch: noDispatch });
      },
      async execute(input, context, { dispatch, signal }) {
        const parsed = read(input);
        if (!parsed.success) return invalidInput(name, parsed.error);
        const caller = { ...callerOf(context), dispatch, ...(signal && { signal }) };
        const execute = () => definition.execute(parsed.data, caller);
        const { principal, key } = caller;
        if (isRead || key === undefined || keyed.has(context)) return await execute();
        keyed.add(context);
        return await once({ principal, operation: name, key, input, ...(signal && { signal }) }, execute);
      },
    } satisfies Operation);
  };
}

function callerOf(context: JsonMap): Omit<Caller, "dispatch"> {
  const { principal, door, key } = context;
  if (principal === undefined) throw holdfastError("unauthenticated", "Nobody is named who calls.");
  return {
    principal: principals.fromArray(principal),
    door: door as Door,
    ...(typeof key === "string" && { key }),
  };
}

function noDispatch(): never {
  throw new Error("Nothing is called before it is known whether the call is permitted.");
}

/** What is said to a caller who lacks every capability that would be enough. */
export function forbidden(name: string, enough: readonly Capability[]): OperationError {
  const needed = enough.join(" or ");
  return operationError("ability_forbidden", `"${name}" takes the capability ${needed}, which the caller lacks.`);
}

/** What is wrong with an input, field by field. */
function invalidInput(name: string, { issues }: z.ZodError): OperationError {
  const problems = issues
    .slice(0, 10)
    .map(({ path, message }) => brief(`${path.map(nameOf).join(".").slice(0, 500) || "input"}: ${message}`));
  return operationError("invalid_input", `"${name}" cannot be called so: ${problems.join("; ")}`, { problems });
}

/** What a field is called may have been made up by whoever calls. */
function nameOf(field: PropertyKey): string {
  return String(field).slice(0, 200).toWellFormed();
}

const shown = { input: new WeakMap<z.ZodType, JsonMap>(), output: new WeakMap<z.ZodType, JsonMap>() };

/** Made when somebody wants to see it, and once: a list of a hundred operations is read by few programs that have one. */
function jsonSchema(schema: z.ZodType, io: keyof typeof shown): JsonMap {
  const known = shown[io].get(schema);
  if (known) return known;
  const made = snapshotMap(z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" }));
  shown[io].set(schema, made);
  return made;
}

/** True for what an operation answered that is a refusal. */
export const isRefusal: (answer: unknown) => answer is OperationError = isOperationError;
