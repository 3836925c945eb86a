/** Names to addresses, with the rules about which addresses may be called. */
import { lookup as resolve } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { isPublicAddress } from "sluice/http";
import { isLoopback, packAddress, showAddress } from "../wire/address.ts";
import { SelfError } from "./outcome.ts";

export interface LookupRules {
  readonly port: number;
  /** Our own ports of the protocol: a local address with one of them is ourselves. */
  readonly ownPorts: ReadonlySet<number>;
  /** What came from outside, such as a redirect, may only lead to public addresses. */
  readonly isPublicOnly: boolean;
}

/** All addresses of a host; the first is used. Throws when one of them is not allowed. */
export async function addressesOf(
  host: string,
  rules: LookupRules,
): Promise<{ address: string; family: number }[]> {
  const bare = host.replace(/^\[|\]$/g, "");
  const found =
    isIP(bare) > 0 ? [{ address: bare, family: isIP(bare) }] : await resolve(bare, { all: true });
  for (const { address } of found) check(address, rules);
  return found;
}

function check(address: string, { port, ownPorts, isPublicOnly }: LookupRules): void {
  const packed = packAddress(address);
  if (packed === undefined) throw new Error(`${address} is not an address`);
  if (ownPorts.has(port) && isOurs(packed)) throw new SelfError();
  if (isPublicOnly && !isPublicAddress(showAddress(packed))) {
    throw Object.assign(new Error(`${address} is not a public address`), { code: "EANSWER" });
  }
}

function isOurs(packed: string): boolean {
  if (isLoopback(packed) || /^\0+$/.test(packed)) return true;
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => packAddress(address) === packed),
  );
}

/** The same as a hook for sockets: what was checked is what is connected to. */
export function checkedLookup(rules: LookupRules): LookupFunction {
  return (host, options, done) => {
    addressesOf(host, rules).then(
      (found) => {
        const wanted = options.family === 4 || options.family === 6 ? options.family : 0;
        const fitting = found.filter(({ family }) => wanted === 0 || family === wanted);
        if (fitting.length === 0) done(Object.assign(new Error(host), { code: "ENOTFOUND" }), "");
        else if (options.all) done(null, fitting);
        else done(null, fitting[0]!.address, fitting[0]!.family);
      },
      (error) => done(error, ""),
    );
  };
}
