/** Where a call to the outside goes, and whether it may. */
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./addresses.ts";
import { OutgoingError } from "./errors.ts";

/** Who chose an address. An operator's may be private and on any port, a stranger's may not. */
export type Chooser = "operator" | "stranger";

export function parseTarget(text: string | URL): URL {
  const url = URL.parse(String(text));
  if (url === null) throw new OutgoingError("address", "the address is not a URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new OutgoingError("address", `${url.protocol} is not called, only http: and https:`);
  }
  return url;
}

/** What the text alone shows. URL has already made one form of 0x7f.1 and the like. */
export function checkTarget(url: URL, chooser: Chooser, ports: readonly number[]): void {
  if (chooser === "operator") return;
  if (url.username !== "" || url.password !== "") {
    throw new OutgoingError("address", `an address with a user in it is not called: ${url.host}`);
  }
  if (!ports.includes(portOf(url))) {
    throw new OutgoingError("address", `port ${portOf(url)} is not called: ${url.host}`);
  }
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(url.host, host);
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Without the brackets that an IPv6 address wears in a URL. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/**
 * Looks a name up and lets the connection be made only when all of its addresses are public. The
 * very address that was checked is connected to, so that a name cannot change in between.
 */
export function publicLookup(lookup: LookupFunction = systemLookup): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      const addresses = Array.isArray(found) ? found : [];
      const bad = addresses.find(({ address }) => !isPublicAddress(address));
      if (bad !== undefined) return callback(notPublic(name, bad.address), "", 0);
      const [first] = addresses;
      if (first === undefined) {
        return callback(new OutgoingError("network", `${name} has no address`), "", 0);
      }
      if (options.all === true) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

function notPublic(name: string, address: string): OutgoingError {
  return new OutgoingError("address", `${name} leads to ${address}, which is not a public address`);
}
