// YAML text as a value whose every part knows its file, line and column.
import { errorMessage } from "../contracts/error.ts";
import { type LocatedNode, locatedValue } from "./located-node.ts";
import type { LocatedProblem, LocatedValue } from "./place.ts";
import { createReport, type ProblemReport } from "./report.ts";
import { parseYamlDocument } from "./yaml-document.ts";
import { readYamlNodes } from "./yaml-nodes.ts";

/** The value of a YAML text, or every problem with it, by place. Never throws. */
export function readYaml(text: string, file: string): { value: LocatedValue } | { problems: LocatedProblem[] } {
  const report = createReport();
  const node = readYamlNode(text, file, report);
  const problems = report.problems();
  return node === undefined || problems.length > 0 ? { problems } : { value: locatedValue(node) };
}

/** Undefined when the text is not YAML; the report says why. */
export function readYamlNode(text: string, file: string, report: ProblemReport): LocatedNode | undefined {
  try {
    const document = parseYamlDocument(text, file, report);
    return document && readYamlNodes(document, report);
  } catch (thrown) {
    report.problem({ file, line: 1, column: 1 }, `The YAML parser failed: ${errorMessage(thrown)}.`);
    return undefined;
  }
}
