/**
 * Which addresses a stranger may make us call. Everything that is not public unicast is refused:
 * a list of what is known to be special, not a guess at what is dangerous.
 */
import { BlockList, isIP } from "node:net";

const SPECIAL: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8], // this host
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // shared by carriers
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local, and the metadata of clouds
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // relays of 6to4
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
];

/** Of IPv6 only 2000::/3 is given out at all; these parts of it are special. */
const SPECIAL_OF_SIX: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23], // protocol assignments, Teredo among them
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: any IPv4 address may hide in it
  ["3fff::", 20], // documentation
];

const special = new BlockList();
for (const [network, prefix] of SPECIAL) special.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of SPECIAL_OF_SIX) special.addSubnet(network, prefix, "ipv6");
const givenOut = new BlockList();
givenOut.addSubnet("2000::", 3, "ipv6");

/** False for anything that is not the text of a public unicast address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      // Addresses that carry an IPv4 one (::ffff:0:0/96, 64:ff9b::/96) lie outside of 2000::/3.
      return givenOut.check(address, "ipv6") && !special.check(address, "ipv6");
    default:
      return false;
  }
}
