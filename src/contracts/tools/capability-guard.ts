// The capability that a tool's declaration requires: asked for before anything of the tool is run, whoever runs it.
import { trimmed } from "../coerce.ts";
import type { Hooks } from "../hooks.ts";
import { isEmpty, type JsonMap, seal, snapshotMap } from "../json.ts";
import { can, type HoldsCapability } from "../trust/authorization.ts";
import { safeMetadata } from "../trust/safe-principal.ts";
import type { ToolDeclaration } from "./declaration.ts";
import type { ToolExecutor } from "./execution.ts";
import { redact } from "./exposure.ts";

/** Whether a principal has a capability. Only true does; an error counts as no. */
export type Authorize = (principal: JsonMap, capability: string, context: JsonMap) => boolean | PromiseLike<boolean>;

/** Who decides about required capabilities. */
export type CapabilityHost = {
  readonly hooks?: Hooks | undefined;
  /** Which user holds which capability; unless given, nobody holds any. Every ceiling has to let it pass besides. */
  readonly holdsCapability?: HoldsCapability | undefined;
  /** Decides in place of ceilings and users. */
  readonly authorize?: Authorize | undefined;
};

/** One call as its result and events show it. */
export type Attempt = { readonly tool_name: string; readonly ability_name?: string; readonly parameters: JsonMap };

/** An executor that runs only what the principal in the context has the required capability for. */
export function guardCapabilities(executor: ToolExecutor, host: CapabilityHost): ToolExecutor {
  return (call, declaration, context, options) => {
    if (capabilityOf(declaration) === undefined) return executor(call, declaration, context, options);
    const { tool_name } = call;
    const attempt = { tool_name, parameters: redact(call.parameters, declaration) };
    return refusalOf(attempt, declaration, context, host).then((refusal) => {
      if (refusal) return refusal;
      // The answer may have come after nobody waited any more: what was stopped must not begin.
      options?.signal?.throwIfAborted();
      return executor(call, declaration, context, options);
    });
  };
}

/** The error result of a call whose capability is denied, which observers are told too; undefined when it may run. */
export async function refusalOf(
  attempt: Attempt,
  declaration: ToolDeclaration,
  context: JsonMap,
  { hooks, holdsCapability = () => false, authorize = (...asked) => can(...asked, holdsCapability) }: CapabilityHost,
): Promise<JsonMap | undefined> {
  const required_capability = capabilityOf(declaration);
  if (required_capability === undefined) return undefined;
  const denial = await denialOf(required_capability, context, authorize);
  if (!denial) return undefined;
  const { tool_name, ...shown } = attempt;
  const { operation, reason, principal } = denial;
  const facts = { ...shown, required_capability, parameters_redacted: true };
  hooks?.emit("toolCapabilityDenied", seal({ schema_version: 1, operation, tool_name, reason, principal, ...facts }));
  return seal({
    success: false,
    tool_name,
    metadata: seal({ error_type: "capability_denied", ...facts, denial }),
    error: `The tool '${tool_name}' needs the capability "${required_capability}".`,
  });
}

function capabilityOf({ required_capability }: ToolDeclaration): string | undefined {
  return trimmed(required_capability);
}

type Denial = {
  readonly allowed: false;
  readonly operation: "tool_execution";
  readonly reason: "principal_unavailable" | "capability_not_permitted";
  readonly principal: JsonMap | null;
};

async function denialOf(capability: string, context: JsonMap, authorize: Authorize): Promise<Denial | undefined> {
  const principal = snapshotMap(context.principal);
  const denial = { allowed: false, operation: "tool_execution" } as const;
  if (isEmpty(principal)) return seal({ ...denial, reason: "principal_unavailable", principal: null });
  if (await isAuthorized(principal, capability, context, authorize)) return undefined;
  return seal({ ...denial, reason: "capability_not_permitted", principal: safeMetadata(principal) });
}

async function isAuthorized(principal: JsonMap, capability: string, context: JsonMap, authorize: Authorize) {
  try {
    return (await authorize(principal, capability, context)) === true;
  } catch {
    return false;
  }
}
