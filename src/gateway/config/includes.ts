// The files of a configuration: the main one, and all that it includes.
import { dirname, resolve } from "node:path";
import { isNull, isUnusable, type LocatedNode, type MapNode } from "../../yaml/located-node.ts";
import type { Place } from "../../yaml/place.ts";
import { displayPath } from "../../yaml/place.ts";
import { readYamlNode } from "../../yaml/read-yaml.ts";
import type { Report } from "../../yaml/report.ts";
import { identify, isFolder, listYamlFiles, readTextFile } from "../../yaml/text-file.ts";
import { type Environment, interpolate } from "./environment.ts";
import { readObject } from "./located-object.ts";
import { readTexts } from "./sections/section.ts";

/** More files are refused. */
const MOST_FILES = 1_000;

export type ReadOptions = {
  readonly env: Environment;
  /** Places are named relative to it. */
  readonly cwd: string;
  readonly report: Report;
  /** Told of every file and folder that is looked for, whether or not it is there. */
  readonly onFile?: ((path: string) => void) | undefined;
};

/** The top of the main configuration, and those of included files in the order in which they were named. */
export function readMaps(source: string | object, options: ReadOptions): MapNode[] {
  const { cwd, env, report } = options;
  const files = createFileReader(options);
  if (typeof source === "string") return files.read(resolve(cwd, source), undefined, []);
  const root = interpolate(readObject(source, OBJECT, report), env, report);
  return files.follow(root, cwd, []);
}

/** What an object is called where a file has its name. */
const OBJECT = "gateway";

function createFileReader({ env, cwd, report, onFile }: ReadOptions) {
  const seen = new Set<string>();

  /** `from` is the entry that includes the file, `chain` the files above it. */
  function read(path: string, from: Place | undefined, chain: readonly string[]): MapNode[] {
    const file = displayPath(path, cwd);
    const start = { file, line: from === undefined ? 0 : 1, column: from === undefined ? 0 : 1 };
    const id = identify(path);
    if (from !== undefined && chain.includes(id)) {
      report.problem(from, `${file} includes itself, directly or through other files.`);
      return [];
    }
    if (seen.has(id)) return [];
    seen.add(id);
    if (seen.size > MOST_FILES) {
      report.problem(from ?? start, `A configuration has at most ${MOST_FILES} files.`);
      return [];
    }
    onFile?.(path);
    const content = readTextFile(path);
    if ("problem" in content) {
      const { problem, line, column } = content;
      if (line !== undefined && column !== undefined) report.problem({ file, line, column }, problem);
      else report.problem(from ?? start, from === undefined ? problem : `${file}: ${problem}`);
      return [];
    }
    const root = readYamlNode(content.text, file, report);
    return root === undefined ? [] : follow(interpolate(root, env, report), dirname(path), [...chain, id]);
  }

  /** A map, and the maps of the files that it includes. */
  function follow(root: LocatedNode, folder: string, chain: readonly string[]): MapNode[] {
    if (isNull(root)) return [{ kind: "map", place: root.place, entries: new Map() }];
    if (isUnusable(root)) return [];
    if (root.kind !== "map") {
      report.problem(root.place, "A configuration is a map with keys such as plugins, pipelines and include.");
      return [];
    }
    const include = root.entries.get("include");
    if (include === undefined || isNull(include)) return [root];
    const paths = readTexts(include, "include names files or folders.", report);
    return [root, ...paths.flatMap(({ text, place }) => enter(resolve(folder, text), place, chain))];
  }

  function enter(path: string, place: Place, chain: readonly string[]): MapNode[] {
    if (!isFolder(path)) return read(path, place, chain);
    onFile?.(path);
    const files = listYamlFiles(path);
    if ("problem" in files) {
      report.problem(place, `${displayPath(path, cwd)}: ${files.problem}`);
      return [];
    }
    if (files.length === 0) report.warning(place, `${displayPath(path, cwd)} holds no .yaml file.`);
    return files.flatMap((file) => read(file, place, chain));
  }

  return { read, follow };
}
