// `allow_hosts`: the hosts that may be fetched although their addresses are not public.
import {
  type Address,
  contains,
  type Network,
  parseAddress,
  readNetwork,
  specialRange,
  unmapped,
} from "./addresses.ts";
import { failure } from "./failure.ts";
import type { ResolveName } from "./resolve-name.ts";

export type AllowedHost =
  | { readonly kind: "name"; readonly name: string; readonly port: number | undefined }
  | { readonly kind: "network"; readonly network: Network; readonly port: number | undefined };

/** Reads `name`, `name:port`, `address`, `address:port`, `[ipv6]:port` and `address/prefix`. */
export function parseAllowedHost(text: string): AllowedHost {
  const network = readNetwork(text.replace(/^\[([^\]]*)\]$/, "$1"));
  if (network !== undefined) return { kind: "network", network, port: undefined };
  const [, host, digits] = /^(\[[^\]]+\]|[^\s:/?#@*\\[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === undefined || !URL.canParse(`http://${host}`) || Number(digits ?? 0) > 65_535) {
    throw failure(`config.allow_hosts: ${JSON.stringify(text)} is not a host, host:port or network (10.0.0.0/8).`);
  }
  const port = digits === undefined ? undefined : Number(digits);
  const name = hostOf(new URL(`http://${host}`));
  const address = readNetwork(name);
  return address === undefined ? { kind: "name", name, port } : { kind: "network", network: address, port };
}

/** The host of a URL: an address without brackets, or a name without the dot at its end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/**
 * The addresses that a connection for this URL may be made to. Refuses the URL when one of them is not public and not
 * allowed: an answer that mixes both is an attempt to have either.
 */
export async function permittedAddresses(
  url: URL,
  allowed: readonly AllowedHost[],
  resolve: ResolveName,
): Promise<readonly string[]> {
  const host = hostOf(url);
  const port = portOf(url);
  const rules = allowed.filter((rule) => rule.port === undefined || rule.port === port);
  const addresses = parseAddress(host) === undefined ? await resolve(host) : [host];
  if (addresses.length === 0) throw failure(`The name ${host} has no address.`);
  if (rules.some((rule) => rule.kind === "name" && rule.name === host)) return addresses;
  for (const text of addresses) {
    const address = parseAddress(text);
    const range = address === undefined ? "link-local" : specialRange(address);
    if (range === undefined || (address !== undefined && isInNetworks(rules, address))) continue;
    const place = text === host ? host : `${host} (${text})`;
    throw failure(`The address of ${place} is refused: ${range}. The plugin's config.allow_hosts can allow it.`);
  }
  return addresses;
}

function isInNetworks(rules: readonly AllowedHost[], address: Address): boolean {
  const names = [address, unmapped(address)];
  return rules.some((rule) => rule.kind === "network" && names.some((name) => contains(rule.network, name)));
}
