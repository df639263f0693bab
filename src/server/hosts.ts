// Under which names the server answers, and to which web pages. A page of anybody's can make its visitors' browsers call
// this machine under a name that the page's owner points here; such a name is none of ours.
import { isIP } from "node:net";
import { type OperationError, operationError } from "../contracts/operation-error.ts";

export type HostOptions = {
  /** What the server listens on. */
  readonly hostname?: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
};

export interface HostCheck {
  /** Why a request with these headers is not answered; undefined when it is. */
  refusal(host: string | undefined, origin: string | undefined): OperationError | undefined;
  /** True for the origin of a page, not the server's own, that may call. */
  isForeign(origin: string): boolean;
}

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

export function createHostCheck({ hostname = "127.0.0.1", allowedHosts = [], allowedOrigins = [] }: HostOptions) {
  const names = new Set(
    [...LOOPBACK_NAMES, inUrl(hostname), ...allowedHosts.map(inUrl)].map((name) => name.toLowerCase()),
  );
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  // Whoever listens everywhere has addresses that nobody listed. Names can be pointed here, addresses cannot.
  const takesAddresses = isEverywhere(hostname);

  /** The last one that was found to be: mostly it is the next one too. */
  let known: string | undefined;

  function isOurs(host: string): boolean {
    if (host === known) return true;
    if (!isNamed(host)) return false;
    known = host;
    return true;
  }

  function isNamed(host: string): boolean {
    const [, name = ""] = HOST.exec(host) ?? [];
    return names.has(name.toLowerCase()) || (takesAddresses && isIP(name.replace(/^\[|\]$/g, "")) !== 0);
  }

  const check: HostCheck = {
    refusal(host, origin) {
      if (host === undefined || !isOurs(host)) {
        return operationError("host_not_allowed", `The server does not answer as "${host ?? ""}".`);
      }
      if (origin === undefined || origins.has(origin.toLowerCase())) return undefined;
      const isOwn = origin === `http://${host}` || origin === `https://${host}`;
      return isOwn ? undefined : operationError("origin_not_allowed", `Pages of ${origin} may not call the server.`);
    },
    isForeign: (origin) => origins.has(origin.toLowerCase()),
  };
  return check;
}

/** True for what only this machine can reach. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || (isIP(hostname) === 4 && hostname.startsWith("127."));
}

/** True for what stands for all addresses of the machine. */
function isEverywhere(hostname: string): boolean {
  return hostname === "0.0.0.0" || hostname === "::" || hostname === "";
}

/** As it stands in a URL, where an address of version 6 has brackets. */
export function inUrl(hostname: string): string {
  return isIP(hostname) === 6 ? `[${hostname}]` : hostname;
}
