// What a gateway has loaded, in words.
import { counted } from "../counted.ts";

export function loadedText({ plugins, pipelines }: { readonly plugins: number; readonly pipelines: number }): string {
  return `${counted(plugins, "plugin")}, ${counted(pipelines, "pipeline")}`;
}
