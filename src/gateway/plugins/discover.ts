// Finds plugins: folders with a manifest, in the plugin roots or one level of grouping below them.
import { lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { compareText } from "../../contracts/compare-text.ts";
import { errorMessage } from "../../contracts/error.ts";
import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import { isMap } from "../../contracts/json.ts";
import type { LocatedProblem } from "../../yaml/place.ts";
import { readManifest } from "./read-manifest.ts";
import { checkTrust, type EntryPoint, type EntryPointPlace } from "./trust.ts";

export type DiscoveredPlugin = {
  readonly manifest: Manifest;
  readonly manifestFile: string;
  readonly place: EntryPointPlace;
  /** As it was at the discovery. */
  readonly entry: EntryPoint;
};

export type Discovery = {
  /** By the name in the manifest, in the order of discovery. */
  readonly plugins: ReadonlyMap<string, DiscoveredPlugin>;
  /** What was left out or is odd. Nothing of it keeps the rest from being found. */
  readonly warnings: readonly LocatedProblem[];
};

export type DiscoveryOptions = {
  /** `service.strict_protocol`. */
  readonly strict: boolean;
  readonly allowSymlinks: boolean;
  /** The root of which nothing is said where it is not there. */
  readonly optionalRoot?: string | null;
  /** Told of every folder, manifest and entry point that is looked for, whether or not it is there. */
  readonly onFile?: ((path: string) => void) | undefined;
};

/** Never throws. Of plugins with the same name the first is kept: roots in their order, folders by name. */
export function discoverPlugins(
  roots: readonly string[],
  { strict, allowSymlinks, optionalRoot = null, onFile }: DiscoveryOptions,
): Discovery {
  const plugins = new Map<string, DiscoveredPlugin>();
  const warnings: LocatedProblem[] = [];
  const warn = (file: string, message: string) => void warnings.push({ file, line: 0, column: 0, message });

  for (const root of new Set(roots)) for (const manifestFile of findManifests(root)) load(root, manifestFile);
  return { plugins, warnings };

  /** The root itself may be the folder of a plugin. */
  function findManifests(root: string): readonly string[] {
    const inFolder = (folder: string, below: (folder: string) => readonly string[]) => {
      const candidates = MANIFESTS.map((name) => join(folder, name));
      for (const file of candidates) onFile?.(file);
      const manifest = candidates.find(exists);
      return manifest === undefined ? below(folder) : [manifest];
    };
    const inGroup = (folder: string) => subfolders(folder).flatMap((each) => inFolder(each, () => []));
    const inRoot = (folder: string) => subfolders(folder).flatMap((each) => inFolder(each, inGroup));
    return inFolder(root, inRoot);
  }

  function subfolders(folder: string): readonly string[] {
    onFile?.(folder);
    try {
      const names = readdirSync(folder).filter(isSearched).sort(compareText);
      return names.map((name) => join(folder, name)).filter((path) => isFolder(path) && !isRefusedLink(path));
    } catch (thrown) {
      if (folder === optionalRoot && isAbsent(thrown)) return [];
      warn(folder, `Plugins cannot be looked for here: ${errorMessage(thrown)}.`);
      return [];
    }
  }

  function isRefusedLink(path: string): boolean {
    if (allowSymlinks || !isLink(path)) return false;
    warn(path, "plugin_untrusted: this is a symbolic link, and service.allow_symlinks is off.");
    return true;
  }

  function load(root: string, manifestFile: string): void {
    if (isRefusedLink(manifestFile)) return;
    const read = readManifest(manifestFile, strict);
    warnings.push(...("problems" in read ? read.problems : read.warnings));
    if ("problems" in read) return;
    const { manifest, entrypointPlace } = read;
    const place = { root, folder: dirname(manifestFile), entrypoint: manifest.entrypoint, allowSymlinks };
    onFile?.(join(place.folder, place.entrypoint));
    const trust = checkTrust(place);
    if ("problem" in trust) {
      warnings.push({ ...entrypointPlace, message: `plugin_untrusted: ${trust.problem}.` });
      return;
    }
    const first = plugins.get(manifest.name);
    if (first) warn(manifestFile, `name: ${manifest.name} is the name of ${first.manifestFile} too, which is used.`);
    else plugins.set(manifest.name, { manifest, manifestFile, place, entry: trust.entry });
    const { file, startProblem } = trust.entry;
    if (startProblem) warnings.push({ ...entrypointPlace, message: `entrypoint: ${file} ${startProblem}.` });
  }
}

const MANIFESTS = ["manifest.yaml", "manifest.yml"] as const;

/** Hidden folders and installed packages hold no plugins. */
function isSearched(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" && name !== "__pycache__";
}

function isAbsent(thrown: unknown): boolean {
  return isMap(thrown) && thrown.code === "ENOENT";
}

function exists(file: string): boolean {
  return attempt(() => lstatSync(file, { throwIfNoEntry: false }) !== undefined);
}

function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory());
}

function isLink(path: string): boolean {
  return attempt(() => lstatSync(path).isSymbolicLink());
}

/** False for a link that leads nowhere, for what may not be read, and for what vanished meanwhile. */
function attempt(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}
