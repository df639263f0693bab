// Which provider and which model an agent runs with, and who decided each of the two.
import { scalarText, trim, trimmed } from "../coerce.ts";
import * as runtimeOverrides from "../conversation/runtime-overrides.ts";
import { errorMessage, holdfastError } from "../error.ts";
import type { Hooks } from "../hooks.ts";
import { asMap, isEmpty, isMap, type JsonMap, seal, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { isThenable, whenReady } from "../when-ready.ts";
import { agentSlug } from "./agent-slug.ts";

/** Where something was decided: a source, and the path of the value inside it. */
type Provenance = { readonly source: string; readonly path: string };

/** What nobody decided is `""` and has no provenance. */
export type RuntimeProfile = {
  readonly agent_slug: string;
  readonly provider_id: string;
  readonly model_id: string;
  readonly identity: JsonMap | null;
  readonly provenance: {
    readonly config_sources: readonly Provenance[];
    readonly provider_id?: Provenance;
    readonly model_id?: Provenance;
  };
};

/** A host's own answer: a map with `provider_id`, `model_id` and `identity`, or null to leave it to the next. */
export type ProfileProvider = (context: JsonMap, agent: JsonMap) => unknown;

type Question = {
  /** `slug` and `default_config` of the agent. */
  readonly agent?: unknown;
  readonly context?: unknown;
  readonly runtimeOverrides?: unknown;
  readonly providers?: readonly ProfileProvider[] | undefined;
  readonly hooks?: Hooks | undefined;
};

/**
 * The profile for an agent in a context; null when neither provider, model nor identity is known. Provider and model are
 * looked for separately. Throws `runtime_profile_failed` when a host's provider does.
 */
export function resolve({
  hooks,
  providers = [],
  ...question
}: Question): RuntimeProfile | null | Promise<RuntimeProfile | null> {
  const agent = snapshotMap(question.agent);
  const context = snapshotMap(question.context);
  const overrides = runtimeOverrides.normalize(question.runtimeOverrides);
  const asked = hooks?.apply("runtimeProfileProviders", providers, context) ?? providers;
  return whenReady(asked, (all) =>
    whenReady(firstAnswer(all, 0, context, agent), (hosted) => {
      const profile = assemble(agent, { context, overrides, hosted });
      if (hooks === undefined) return profile;
      return whenReady(hooks.apply("resolvedAgentRuntimeProfile", profile, context), (answer) => {
        const replacement = snapshotMap(answer);
        return isProfile(replacement) ? replacement : profile;
      });
    }),
  );
}

type Hosted = Provenance & { readonly profile: UnknownMap };

function firstAnswer(
  providers: readonly unknown[],
  index: number,
  context: JsonMap,
  agent: JsonMap,
): Hosted | undefined | Promise<Hosted | undefined> {
  for (let asked = index; asked < providers.length; asked++) {
    const answer = ask(providers[asked], context, agent);
    if (isThenable(answer)) {
      return Promise.resolve(answer).then(
        (later) => hostedBy(asked, later) ?? firstAnswer(providers, asked + 1, context, agent),
      );
    }
    const hosted = hostedBy(asked, answer);
    if (hosted) return hosted;
  }
  return undefined;
}

function hostedBy(index: number, answer: unknown): Hosted | undefined {
  const profile = asMap(snapshot(answer));
  return profile && { source: "runtime_profile_provider", path: `runtime_profile_providers.${index}`, profile };
}

function ask(provider: unknown, context: JsonMap, agent: JsonMap): unknown {
  if (typeof provider !== "function") return null;
  try {
    const answer: unknown = provider(context, agent);
    return isThenable(answer) ? Promise.resolve(answer).catch(refuse) : answer;
  } catch (thrown) {
    return refuse(thrown);
  }
}

function refuse(thrown: unknown): never {
  throw holdfastError("runtime_profile_failed", errorMessage(thrown), thrown);
}

type Sources = {
  readonly context: JsonMap;
  readonly overrides: runtimeOverrides.RuntimeOverrides;
  readonly hosted: Hosted | undefined;
};

function assemble(agent: JsonMap, sources: Sources): RuntimeProfile | null {
  const { context, hosted } = sources;
  const identity = filledMap(context.identity) ?? filledMap(hosted?.profile.identity) ?? null;
  const configs = configsOf(agent, context, identity);
  const provider = decide("provider_id", sources, configs);
  const model = decide("model_id", sources, configs);
  const isKnown = Boolean(provider?.value || model?.value) || identity !== null;
  if (!isKnown) return null;
  return seal({
    agent_slug: agentSlug(agent.slug),
    provider_id: provider?.value ?? "",
    model_id: model?.value ?? "",
    identity,
    provenance: seal({
      config_sources: seal([...(hosted ? [hosted] : []), ...configs].map(provenance)),
      ...(provider && { provider_id: provenance(provider) }),
      ...(model && { model_id: provenance(model) }),
    }),
  });
}

type Config = Provenance & { readonly config: JsonMap; readonly mode: string; readonly modeModel: JsonMap | undefined };

function configsOf(agent: JsonMap, context: JsonMap, identity: JsonMap | null): readonly Config[] {
  const mode = trimmed(context.mode) ?? "";
  const read = (source: string, value: unknown): Config[] => {
    const config = filledMap(value);
    if (config === undefined) return [];
    const models = snapshotMap(config.mode_models);
    const modeModel = Object.hasOwn(models, mode) ? snapshotMap(models[mode]) : undefined;
    return [{ source, path: "", config, mode, modeModel }];
  };
  return [
    ...read("context.agent_config", context.agent_config),
    ...read("identity.config", identity?.config),
    ...read("agent.default_config", agent.default_config),
  ];
}

type Field = "provider_id" | "model_id";
type Candidate = Provenance & { readonly value: string | undefined };
type Decision = Provenance & { readonly value: string };

// Configurations spell the two fields in more than one way; the fuller name comes first.
const spellings = {
  provider_id: { inMode: ["provider_id", "provider"], byDefault: ["default_provider_id", "default_provider"] },
  model_id: { inMode: ["model_id", "model"], byDefault: ["default_model_id", "default_model"] },
} as const;

function decide(field: Field, sources: Sources, configs: readonly Config[]): Decision | undefined {
  return candidates(field, sources, configs).find((each) => each.value !== undefined) as Decision | undefined;
}

function candidates(field: Field, sources: Sources, configs: readonly Config[]): readonly Candidate[] {
  const { context, overrides, hosted } = sources;
  const { inMode, byDefault } = spellings[field];
  return [
    { source: "context", path: field, value: filledText(context[field]) },
    { source: "context", path: `model.${field}`, value: filledText(asMap(context.model)?.[field]) },
    { source: "runtime_overrides", path: field, value: overrides[field] ?? undefined },
    // A host that answers with an empty text means that there shall be none.
    ...(hosted ? [{ ...hosted, path: `${hosted.path}.${field}`, value: text(hosted.profile[field]) }] : []),
    ...configs.flatMap(({ source, config, mode, modeModel }) => [
      ...inMode.map((key) => ({ source, path: `mode_models.${mode}.${key}`, value: filledText(modeModel?.[key]) })),
      ...byDefault.map((key) => ({ source, path: key, value: filledText(config[key]) })),
    ]),
  ];
}

function provenance({ source, path }: Provenance): Provenance {
  return seal({ source, path });
}

function isProfile(value: JsonMap): value is RuntimeProfile {
  const hasTexts = ["agent_slug", "provider_id", "model_id"].every((field) => typeof value[field] === "string");
  const hasIdentity = value.identity === null || isMap(value.identity);
  return hasTexts && hasIdentity && isMap(value.provenance) && Array.isArray(value.provenance.config_sources);
}

function filledMap(value: unknown): JsonMap | undefined {
  const map = snapshotMap(value);
  return isEmpty(map) ? undefined : map;
}

function text(value: unknown): string | undefined {
  const given = scalarText(value);
  return given === undefined ? undefined : trim(given);
}

function filledText(value: unknown): string | undefined {
  return text(value) || undefined;
}
