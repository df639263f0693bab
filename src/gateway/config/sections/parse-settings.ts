// The merged files as the gateway's settings, with every default in place.
import { resolve } from "node:path";
import { type LocatedNode, locatedValue } from "../../../yaml/located-node.ts";
import type { LocatedValue } from "../../../yaml/place.ts";
import type { Report } from "../../../yaml/report.ts";
import type { Environment } from "../environment.ts";
import type { GatewayConfig } from "../gateway-config.ts";
import { listKeys, type MergedConfig } from "../merge-maps.ts";
import { parsePlugins } from "./parse-plugins.ts";
import { belongsToHost, parseApi, parseService } from "./parse-service.ts";
import { parseWebhooks } from "./parse-webhooks.ts";
import { openSection, readTexts, type Section } from "./section.ts";

export type SettingsContext = {
  readonly env: Environment;
  /** Where relative paths start. */
  readonly folder: string;
  readonly report: Report;
};

/** Problems are in the report; with any of them, the settings are not to be used. */
export function parseSettings(
  { root, lists }: MergedConfig,
  context: SettingsContext,
): Omit<GatewayConfig, "warnings"> {
  const { env, folder, report } = context;
  const top = openSection(root, "", report);
  const emptySection = (path: string) =>
    openSection({ kind: "map", place: root.place, entries: new Map() }, path, report);
  const serviceSection = top.section("service") ?? emptySection("service");
  const apiSection = top.section("api") ?? emptySection("api");
  const service = parseService(serviceSection, folder);
  const plugins = parsePlugins(top.section("plugins"), { env, max_workers: service.max_workers, report });
  belongsToHost(top, "state", "the gateway's state is in Holdfast's database (--data, or createHoldfast({ backend }))");
  const config = {
    service,
    api: parseApi(apiSection),
    ...readRoots(lists.plugin_roots, folder, report),
    plugins,
    webhooks: parseWebhooks(lists.webhooks, env, report),
    pipelineSources: collectLists(lists.pipelines, "pipelines", report),
    routeSources: collectLists(lists.routes, "routes", report),
    folder,
  };
  for (const section of [top, serviceSection, apiSection]) refuseRelays(section);
  for (const key of [...listKeys, "include"]) top.node(key);
  for (const section of [top, serviceSection, apiSection]) section.finish();
  return config;
}

const DEFAULT_ROOT = "plugins";

function readRoots(
  nodes: readonly LocatedNode[],
  folder: string,
  report: Report,
): Pick<GatewayConfig, "plugin_roots" | "optional_root"> {
  const usual = resolve(folder, DEFAULT_ROOT);
  if (nodes.length === 0) return { plugin_roots: [usual], optional_root: usual };
  const named = nodes.flatMap((node) => readTexts(node, "plugin_roots takes a list of folders.", report));
  return { plugin_roots: [...new Set(named.map(({ text }) => resolve(folder, text)))], optional_root: null };
}

function collectLists(nodes: readonly LocatedNode[], key: string, report: Report): LocatedValue[] {
  return nodes.flatMap((node) => {
    if (node.kind === "list") return [locatedValue(node)];
    report.problem(node.place, `${key} takes a list.`);
    return [];
  });
}

/** Forwarding to other installations. */
function refuseRelays(section: Section): void {
  for (const key of section.keys) {
    const isRelay = /^relays?$|^relay[-_]/.test(key);
    if (isRelay && section.node(key) !== undefined) section.problem(key, "is not supported.");
  }
}
