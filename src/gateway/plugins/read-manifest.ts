// A manifest file, read safely: no duplicate keys, bounded aliases, and every problem with its place.
import { type Manifest, parseManifest } from "../../contracts/gateway/protocol/manifest.ts";
import type { LocatedProblem, LocatedValue, Place } from "../../yaml/place.ts";
import { readYaml } from "../../yaml/read-yaml.ts";
import { readTextFile } from "../../yaml/text-file.ts";

export type ManifestFile =
  | {
      readonly manifest: Manifest;
      /** Where the entry point is named. */
      readonly entrypointPlace: Place;
      readonly warnings: readonly LocatedProblem[];
    }
  | { readonly problems: readonly LocatedProblem[] };

/** Never throws. `strict` refuses what is otherwise only warned of. */
export function readManifest(file: string, strict: boolean): ManifestFile {
  const content = readTextFile(file);
  if ("problem" in content) {
    return { problems: [{ file, line: content.line ?? 0, column: content.column ?? 0, message: content.problem }] };
  }
  const yaml = readYaml(content.text, file);
  if ("problems" in yaml) return yaml;
  const located = (sentences: readonly string[]) =>
    sentences.map((message) => ({ ...placeOfField(yaml.value, message), message }));
  const outcome = parseManifest(yaml.value.value, { strict });
  if ("problems" in outcome) return { problems: located(outcome.problems) };
  const { manifest, warnings } = outcome;
  return { manifest, warnings: located(warnings), entrypointPlace: yaml.value.locate(["entrypoint"]) };
}

/** Sentences about a manifest begin with the field: `commands[0].type must be …`. */
function placeOfField(written: LocatedValue, sentence: string): Place {
  const [field = ""] = /^[A-Za-z_]\w*(?:\.\w+|\[\d+\])*/.exec(sentence) ?? [];
  return written.locate(field.split(/[.[\]]+/).filter((part) => part !== ""));
}
