// Loads a provider's package when it is needed, and tells one that is not there from one that does not work.
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";

/** Makes a provider, which makes models of the names it is called with. */
export type ProviderFactory = (settings: Readonly<Record<string, unknown>>) => (model: string) => unknown;

/**
 * What the package exports under that name. Throws `model_package_missing` with what to install, and
 * `model_package_failed` when the package is there and of no use.
 */
export async function loadProviderPackage(name: string, factory: string): Promise<ProviderFactory> {
  let exported: unknown;
  try {
    // Not written out: a bundler, or the compiler, would ask for every package that somebody might name.
    exported = await import(name);
  } catch (thrown) {
    if (isMissing(thrown, name)) {
      throw holdfastError("model_package_missing", `${name} is not installed: npm install ${name}`, thrown);
    }
    throw failed(name, `fails while it is loaded: ${errorMessage(thrown)}`, thrown);
  }
  const made = isMap(exported) ? exported[factory] : undefined;
  if (typeof made !== "function") throw failed(name, `does not export ${factory}: npm install ${name}@latest`);
  return made as ProviderFactory;
}

/** A sentence about a package that is installed and does not do what it is there for. */
export function failed(name: string, what: string, cause?: unknown) {
  return holdfastError("model_package_failed", `${name} ${what}`, cause);
}

/** True when it is this package that cannot be found, and not one that it needs itself. */
function isMissing(thrown: unknown, name: string): boolean {
  if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "ERR_MODULE_NOT_FOUND") return false;
  return thrown.message.includes(`Cannot find package '${name}'`);
}
