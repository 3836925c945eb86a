/**
 * Where requests may go. An indexer's own address was configured by the operator and may be private
 * and on any port. Everything else (redirects, links found in answers) must be plain HTTP on the
 * usual ports, at addresses that are public; they are resolved once, and the connection uses what
 * was checked, so that a second answer of the resolver changes nothing.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { TorznabFault } from "./torznab-fault.ts";

/** Not public unicast: private, loopback, link-local, shared, for examples, multicast, reserved. */
const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv4");
}

/** Of IPv6 only what is assigned as global unicast, less what is carved out or carries IPv4. */
const GLOBAL_6 = new BlockList();
GLOBAL_6.addSubnet("2000::", 3, "ipv6");
const CARVED_6 = new BlockList();
CARVED_6.addSubnet("2001::", 23, "ipv6");
CARVED_6.addSubnet("2001:db8::", 32, "ipv6");
CARVED_6.addSubnet("2002::", 16, "ipv6");
CARVED_6.addSubnet("3fff::", 20, "ipv6");

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !PRIVATE.check(address, "ipv4");
  if (family !== 6) return false;
  // Mapped IPv4 is outside of 2000::/3, and so refused whatever it maps.
  return GLOBAL_6.check(address, "ipv6") && !CARVED_6.check(address, "ipv6");
}

export interface Address {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<readonly Address[]>;

export const resolveHost: Resolve = (host) => lookup(host, { all: true, verbatim: true });

const PORTS = new Set(["", "80", "443"]);

/** The addresses that a URL from outside may be fetched from; a fault when it may not. */
export async function publicAddresses(url: URL, resolve: Resolve): Promise<readonly Address[]> {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refused(`it has the protocol ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") throw refused("it holds a user name");
  if (!PORTS.has(url.port)) throw refused(`it names port ${url.port}`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  if (addresses.length === 0) throw refused("its host has no address");
  for (const { address } of addresses) {
    if (!isPublic(address)) throw refused(`its host has the address ${address}, which is private`);
  }
  return addresses;
}

/** For the connection: the addresses that were checked, and no others. */
export function pinned(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, addresses as { address: string; family: number }[]);
    else callback(null, first!.address, first!.family);
  };
}

function refused(why: string): TorznabFault {
  return new TorznabFault(`a link or redirect is not followed: ${why}`, { kind: "address" });
}
