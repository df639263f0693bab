// Which files a project is made of: whatever is imported from now on, but not what is installed.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { isProjectFile } from "../is-project-file.ts";

/** Answers with the files that were asked for so far, those that are not there included. */
export function recordImports(): () => readonly string[] {
  const files = new Set<string>();
  const add = (url: string) => {
    const file = url.startsWith("file:") ? fileURLToPath(url) : undefined;
    if (file !== undefined && isProjectFile(file)) files.add(file);
  };
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        const resolved = nextResolve(specifier, context);
        add(resolved.url);
        return resolved;
      } catch (thrown) {
        // It may come yet.
        if (/^(\.{0,2}\/|file:)/.test(specifier)) add(new URL(specifier, context.parentURL).href);
        throw thrown;
      }
    },
  });
  return () => [...files];
}
