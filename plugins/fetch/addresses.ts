// Which addresses belong to the public internet, after IANA's special-purpose address registries.
import { isIPv4, isIPv6 } from "node:net";

export type Address = { readonly bits: 32 | 128; readonly value: bigint };

/** All addresses that share the first `prefix` bits. */
export type Network = Address & { readonly prefix: number };

const SPECIAL_IPV4 = networks({
  unspecified: ["0.0.0.0/8"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  "carrier-grade NAT": ["100.64.0.0/10"],
  loopback: ["127.0.0.0/8"],
  "link-local": ["169.254.0.0/16"],
  "protocol assignment": ["192.0.0.0/24", "192.88.99.0/24"],
  documentation: ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"],
  benchmarking: ["198.18.0.0/15"],
  multicast: ["224.0.0.0/4"],
  reserved: ["240.0.0.0/4"],
  // Looks public, and is the agent of every virtual machine in one large cloud.
  "cloud metadata": ["168.63.129.16/32"],
});

const SPECIAL_IPV6 = networks({
  unspecified: ["::/128"],
  loopback: ["::1/128"],
  private: ["fc00::/7"],
  "link-local": ["fe80::/10"],
  "site-local": ["fec0::/10"],
  multicast: ["ff00::/8"],
  documentation: ["2001:db8::/32", "3fff::/20"],
  "protocol assignment": ["2001::/23"],
  "6to4": ["2002::/16"],
});

/** Public addresses of IPv6 are in here, and nowhere else. */
const GLOBAL_UNICAST = parseNetwork("2000::/3");

/** IPv6 addresses that stand for the IPv4 address in their last 32 bits: IPv4-mapped, and NAT64. */
const EMBEDS_IPV4 = [parseNetwork("::ffff:0:0/96"), parseNetwork("64:ff9b::/96")];

/** The name of the special range that an address is in; undefined for a public address. */
export function specialRange(address: Address): string | undefined {
  if (address.bits === 32) return rangeIn(SPECIAL_IPV4, address);
  if (EMBEDS_IPV4.some((network) => contains(network, address))) return specialRange(lastIpv4(address));
  const special = rangeIn(SPECIAL_IPV6, address);
  if (special !== undefined) return special;
  return contains(GLOBAL_UNICAST, address) ? undefined : "reserved";
}

/** An IPv4-mapped address as the IPv4 address that a connection to it reaches. */
export function unmapped(address: Address): Address {
  const [mapped] = EMBEDS_IPV4;
  return mapped !== undefined && contains(mapped, address) ? lastIpv4(address) : address;
}

export function contains(network: Network, address: Address): boolean {
  if (network.bits !== address.bits) return false;
  const rest = BigInt(network.bits - network.prefix);
  return network.value >> rest === address.value >> rest;
}

/** Reads an address as resolvers and URL parsers write them. A scope (`%eth0`) is not accepted. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { bits: 32, value: ipv4Value(text) };
  if (isIPv6(text) && !text.includes("%")) return { bits: 128, value: ipv6Value(text) };
  return undefined;
}

/** Reads `address/prefix`, or one address as the network of its own. */
export function readNetwork(text: string): Network | undefined {
  const [start = "", prefix, ...more] = text.split("/");
  const address = parseAddress(start);
  if (address === undefined || more.length > 0) return undefined;
  if (prefix === undefined) return { ...address, prefix: address.bits };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > address.bits) return undefined;
  return { ...address, prefix: Number(prefix) };
}

function parseNetwork(text: string): Network {
  const network = readNetwork(text);
  if (network === undefined) throw new TypeError(`${text} is not a network.`);
  return network;
}

function networks(byName: Readonly<Record<string, readonly string[]>>): readonly (readonly [string, Network])[] {
  return Object.entries(byName).flatMap(([name, texts]) => texts.map((text) => [name, parseNetwork(text)] as const));
}

function rangeIn(ranges: readonly (readonly [string, Network])[], address: Address): string | undefined {
  return ranges.find(([, network]) => contains(network, address))?.[0];
}

function lastIpv4(address: Address): Address {
  return { bits: 32, value: address.value & 0xffff_ffffn };
}

function ipv4Value(text: string): bigint {
  return text.split(".").reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function ipv6Value(text: string): bigint {
  const [head = "", tail] = text.replace(/\d+\.\d+\.\d+\.\d+$/, ipv4AsGroups).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function ipv4AsGroups(text: string): string {
  const value = ipv4Value(text);
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
