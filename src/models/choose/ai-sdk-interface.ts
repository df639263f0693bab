// How a model object of the AI SDK is known: by its interface, so that the package it comes from need not be.
import { isMap } from "../../contracts/json.ts";
import type { AiSdkModel } from "../model-choice.ts";

const understood: ReadonlySet<unknown> = new Set(["v3", "v4"]);

/** True for a model object of an interface that the adapter understands. */
export function isAiSdkModel(value: unknown): value is AiSdkModel {
  return looksLikeAiSdkModel(value) && understood.has(value.specificationVersion);
}

/** True for a model object of any version of the interface, also of one that is too old or too new. */
export function looksLikeAiSdkModel(value: unknown): value is { readonly specificationVersion: string } {
  return isMap(value) && typeof value.specificationVersion === "string" && typeof value.doStream === "function";
}

/** True for what makes models, such as `openai`, passed in place of what it makes, such as `openai("gpt-5")`. */
export function isAiSdkProvider(value: unknown): boolean {
  return typeof value === "function" && "languageModel" in value && typeof value.languageModel === "function";
}
