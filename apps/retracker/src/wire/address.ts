/** Addresses as 4 or 16 bytes in a string, one per character. */
import { BlockList, isIPv4, isIPv6 } from "node:net";

const MAPPED = "\0\0\0\0\0\0\0\0\0\0\xff\xff";

/** Undefined when the text is no address. IPv4 inside IPv6 is IPv4. */
export function packAddress(text: string): string | undefined {
  if (!text.includes(":")) return packV4(text);
  // A socket for both families shows every IPv4 client like this.
  const mapped = text.startsWith("::ffff:") ? packV4(text.slice(7)) : undefined;
  if (mapped !== undefined) return mapped;
  const zone = text.indexOf("%");
  const bare = zone === -1 ? text : text.slice(0, zone);
  if (!isIPv6(bare)) return undefined;
  const packed = packV6(bare);
  return packed.startsWith(MAPPED) ? packed.slice(MAPPED.length) : packed;
}

function packV4(text: string): string | undefined {
  let packed = "";
  let value = 0;
  let digits = 0;
  for (let i = 0; i <= text.length; i++) {
    const code = i === text.length ? 0x2e : text.charCodeAt(i);
    if (code === 0x2e) {
      if (digits === 0 || value > 255) return undefined;
      packed += String.fromCharCode(value);
      value = 0;
      digits = 0;
    } else if (code < 0x30 || code > 0x39 || digits === 3) return undefined;
    else {
      value = value * 10 + code - 0x30;
      digits++;
    }
  }
  return packed.length === 4 ? packed : undefined;
}

function packV6(text: string): string {
  const dotted = text.lastIndexOf(":") + 1;
  const tail = text.slice(dotted);
  const v4 = tail.includes(".") ? packV4(tail)! : undefined;
  const hex = v4 === undefined ? text : text.slice(0, dotted) + groupsOf(v4);
  const [head = "", rest] = hex.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = rest === undefined || rest === "" ? [] : rest.split(":");
  const gap: string[] = new Array(8 - before.length - after.length).fill("0");
  return [...before, ...gap, ...after]
    .map((group) => Number.parseInt(group, 16))
    .map((group) => String.fromCharCode(group >> 8, group & 0xff))
    .join("");
}

function groupsOf(v4: string): string {
  const [a, b, c, d] = [0, 1, 2, 3].map((i) => v4.charCodeAt(i)) as [
    number,
    number,
    number,
    number,
  ];
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

export function showAddress(packed: string): string {
  if (packed.length === 4) return [...packed].map((byte) => byte.charCodeAt(0)).join(".");
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) {
    groups.push(((packed.charCodeAt(i) << 8) | packed.charCodeAt(i + 1)).toString(16));
  }
  return shortened(groups);
}

/** The longest run of zeros, the first of several, is written as two colons (RFC 5952). */
function shortened(groups: readonly string[]): string {
  let [start, length] = [0, 0];
  for (let from = 0; from < groups.length; from++) {
    let to = from;
    while (groups[to] === "0") to++;
    if (to - from > length) [start, length] = [from, to - from];
  }
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

/** What no stranger may make us call, and what no client gets as a peer's address. */
const PRIVATE_TEXTS = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

/** Every answer asks, so this is numbers; a BlockList takes ten times as long. */
const PRIVATE = PRIVATE_TEXTS.map((text) => {
  const [address = "", bits] = text.split("/");
  const mask = (-1 << (32 - Number(bits))) >>> 0;
  return { base: numberOf(packV4(address)!), mask };
});

function numberOf(v4: string): number {
  let number = 0;
  for (let i = 0; i < 4; i++) number = number * 256 + v4.charCodeAt(i);
  return number;
}

/** Public unicast, by its range alone. IPv6 has one range of it, 2000::/3, with a few holes. */
export function isPublic(packed: string): boolean {
  if (packed.length === 4) {
    const number = numberOf(packed);
    return PRIVATE.every(({ base, mask }) => (number & mask) >>> 0 !== base);
  }
  if ((packed.charCodeAt(0) & 0xe0) !== 0x20) return false;
  // 2001:db8::/32 is for books, 2002::/16 and 2001:0::/32 hide an IPv4 address.
  const first = (packed.charCodeAt(0) << 8) | packed.charCodeAt(1);
  const second = (packed.charCodeAt(2) << 8) | packed.charCodeAt(3);
  return first !== 0x2002 && !(first === 0x2001 && (second === 0xdb8 || second === 0));
}

/** An address that one host can have, in whatever network: neither "this", nor many, nor all. */
export function isUnicast(packed: string): boolean {
  const first = packed.charCodeAt(0);
  if (packed.length === 4) return first !== 0 && first < 224;
  if (first === 0xff) return false;
  return !/^\0{16}$/.test(packed);
}

export function isLoopback(packed: string): boolean {
  if (packed.length === 4) return packed.charCodeAt(0) === 127;
  return packed === `${"\0".repeat(15)}\x01`;
}

/** Ranges as `10.0.0.0/8`, `::1` or `10.0.0.7`; throws a RangeError that names what is none. */
export function ranges(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits] = text.split("/");
    const family = isIPv4(address) ? "ipv4" : isIPv6(address) ? "ipv6" : undefined;
    const most = family === "ipv4" ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    const isPrefix = bits === undefined || /^\d{1,3}$/.test(bits);
    if (family === undefined || !isPrefix || prefix > most) {
      throw new RangeError(`${JSON.stringify(text)} is not a range of addresses`);
    }
    list.addSubnet(address, prefix, family);
  }
  return list;
}

export function isWithin(list: BlockList, packed: string): boolean {
  return list.check(showAddress(packed), packed.length === 4 ? "ipv4" : "ipv6");
}
