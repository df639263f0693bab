// What is wrong with a value, as a sentence for whoever gave it.
import type { Problem } from "./json-schema-problems.ts";

export function inWords(problems: readonly Problem[]): string {
  return problems.map(problemInWords).join("; ");
}

export function problemInWords({ path, message }: Problem): string {
  return path === "" ? message : `${path}: ${message}`;
}
