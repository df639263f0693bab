// The chain of agents behind a request: which agent of which host called, how deep the chain is and where it began. These
// are claims of the caller; whether its host is trusted is for the host to say. What cannot be read exactly is refused,
// because a chain that is taken for shorter than it is may never end.
import { randomUUID } from "node:crypto";
import { createBrand } from "../brand.ts";
import { scalarText, trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { emptyMap, isContainer, isEmpty, isMap, type Json, type JsonMap, seal, type UnknownMap } from "../json.ts";
import { jsonField, optionalText, readFields, textField } from "./record-fields.ts";
import { userId } from "./user-id.ts";

export type CallerContext = {
  readonly caller_agent_id: string;
  readonly caller_user_id: number;
  /** `self` at the top of a chain, else the URL of the host that called. */
  readonly caller_host: string;
  /** How many agents called each other before this one; 0 at the top. */
  readonly chain_depth: number;
  /** The id that the request at the top of the chain was given, and every later one carries on. */
  readonly chain_root_request_id: string;
  /** The host's own; it does not travel. */
  readonly metadata: JsonMap | readonly Json[];
};

/** Deeper chains are refused unless a host says otherwise. */
const DEFAULT_MAX_CHAIN_DEPTH = 16;

const SELF = "self";

/** What the names of all headers that carry a chain begin with, in lower case. */
export const HEADER_PREFIX = "x-agents-api-";

const headerNames = {
  caller_agent_id: "X-Agents-Api-Caller-Agent",
  caller_user_id: "X-Agents-Api-Caller-User",
  caller_host: "X-Agents-Api-Caller-Host",
  chain_depth: "X-Agents-Api-Chain-Depth",
  chain_root_request_id: "X-Agents-Api-Chain-Root",
} as const satisfies Partial<Record<keyof CallerContext, string>>;

type Field = keyof typeof headerNames;

const contexts = createBrand();

/** A frozen record with all its fields. Throws `invalid_agent_caller_context` with the first field that is wrong. */
export function fromArray(value: unknown): CallerContext {
  if (isContainer(value) && contexts.has(value)) return value as CallerContext;
  const given = readFields(value, invalid);
  const context: CallerContext = {
    caller_agent_id: textField(given.caller_agent_id),
    caller_user_id: userId(given.caller_user_id),
    caller_host: optionalText(given.caller_host) ?? SELF,
    chain_depth: userId(given.chain_depth),
    chain_root_request_id: textField(given.chain_root_request_id),
    metadata: emptyMap,
  };
  assertValid(context);
  return made({ ...context, metadata: metadataOf(given) });
}

function made(context: CallerContext): CallerContext {
  contexts.mark(context);
  return seal(context);
}

/** Where nobody claims anything, a chain begins. */
function beginning(chain_root_request_id: string): CallerContext {
  const nobody = { caller_agent_id: "", caller_user_id: 0, caller_host: SELF, chain_depth: 0 };
  return made({ ...nobody, chain_root_request_id, metadata: emptyMap });
}

/**
 * The chain that the headers of a request claim; without any it begins here, under an id of its own. The source is a map
 * of headers whatever the case of their names, or has a `get` like `Headers`. Throws `invalid_agent_caller_context`.
 */
export function fromHeaders(source: unknown, maxChainDepth: number = DEFAULT_MAX_CHAIN_DEPTH): CallerContext {
  if (!(maxChainDepth >= 0)) throw invalid("max_chain_depth must not be negative");
  const claimed = claimsOf(source);
  const caller_user_id = digits(claimed, "caller_user_id");
  const chain_depth = digits(claimed, "chain_depth");
  if (chain_depth > maxChainDepth) throw invalid(`chain_depth must not be more than ${maxChainDepth}`);
  const { caller_agent_id, caller_host, chain_root_request_id } = claimed;
  if (chain_depth === 0) {
    if (caller_agent_id !== "" || caller_user_id !== 0 || (caller_host !== "" && caller_host !== SELF)) {
      throw callerAtTheTop();
    }
    return beginning(chain_root_request_id || randomUUID());
  }
  for (const field of ["caller_agent_id", "caller_host", "chain_root_request_id"] as const) {
    if (claimed[field] === "") throw invalid(`${field} must be given when chain_depth is not 0`);
    if (field === "caller_host" && caller_host === SELF) throw remoteHostMissing();
  }
  return fromArray({ caller_agent_id, caller_user_id, caller_host, chain_depth, chain_root_request_id });
}

/** The five headers that carry the chain on. What `fromHeaders` has read comes out as it went in. */
export function toHeaders(context: CallerContext): Readonly<Record<(typeof headerNames)[Field], string>> {
  return Object.freeze({
    [headerNames.caller_agent_id]: context.caller_agent_id,
    [headerNames.caller_user_id]: String(context.caller_user_id),
    [headerNames.caller_host]: context.caller_host,
    [headerNames.chain_depth]: String(context.chain_depth),
    [headerNames.chain_root_request_id]: context.chain_root_request_id,
  });
}

/** True when another host called. */
export function isCrossSite({ caller_host }: CallerContext): boolean {
  return caller_host !== SELF;
}

function assertValid({ caller_agent_id, caller_user_id, caller_host, chain_depth, ...rest }: CallerContext): void {
  if (caller_user_id < 0) throw invalid("caller_user_id must not be negative");
  if (caller_host !== SELF && !isAbsoluteUrl(caller_host)) {
    throw invalid('caller_host must be "self" or an absolute http or https URL');
  }
  if (chain_depth < 0) throw invalid("chain_depth must not be negative");
  if (rest.chain_root_request_id === "") throw invalid("chain_root_request_id must not be empty");
  if (chain_depth > 0 && caller_host === SELF) throw remoteHostMissing();
  if (chain_depth === 0 && (caller_agent_id !== "" || caller_user_id !== 0 || caller_host !== SELF)) {
    throw callerAtTheTop();
  }
}

// A URL parser takes more than is written: it drops line ends and adds slashes. What it would have to mend is no URL.
function isAbsoluteUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#\\]/.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text);
}

function claimsOf(source: unknown): Readonly<Record<Field, string>> {
  const read = readerOf(source);
  const claimed = (field: Field): string => {
    const value = read(headerNames[field]);
    // Most requests claim nothing.
    if (value == null) return "";
    return trim(scalarText(Array.isArray(value) ? value[0] : value) ?? "");
  };
  return {
    caller_agent_id: claimed("caller_agent_id"),
    caller_user_id: claimed("caller_user_id"),
    caller_host: claimed("caller_host"),
    chain_depth: claimed("chain_depth"),
    chain_root_request_id: claimed("chain_root_request_id"),
  };
}

function readerOf(source: unknown): (name: string) => unknown {
  if (source == null) return () => undefined;
  if (source instanceof Map) return readerOf(Object.fromEntries(source));
  if (isMap(source) && typeof source.get === "function") {
    const { get } = source;
    return (name) => get.call(source, name);
  }
  if (!isContainer(source)) throw invalid("the headers must be a map or have a get function");
  const values = new Map(Object.entries(source).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => values.get(name.toLowerCase());
}

function digits(claimed: Readonly<Record<Field, string>>, field: "caller_user_id" | "chain_depth"): number {
  const text = claimed[field];
  if (text === "") return 0;
  const number = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(number))
    throw invalid(`${field} must be a whole number in digits`);
  return number;
}

function metadataOf(given: UnknownMap): JsonMap | readonly Json[] {
  if (!isContainer(given.metadata) || isEmpty(given.metadata)) return emptyMap;
  const copied = jsonField(given, "metadata", invalid);
  return isContainer(copied) ? copied : emptyMap;
}

function callerAtTheTop() {
  return invalid("chain_depth must not be 0 when a remote caller is named");
}

function remoteHostMissing() {
  return invalid("caller_host must name the remote host when chain_depth is not 0");
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_agent_caller_context", detail, cause);
}
