/** A list of forwarders, from YAML. A bad entry is refused with its line, the others are taken. */
import { isIPv4, isIPv6 } from "node:net";
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from "yaml";
import { FORWARDERS_MAX, LIST_BYTES_MAX } from "../limits.ts";

export interface ForwarderSpec {
  readonly uri: string;
  /** The identity in statistics, queues and stores. */
  readonly name: string;
  readonly protocol: "http" | "https" | "udp";
  /** The address that is announced for the peer. */
  readonly ip: string | undefined;
  /** The Host header. */
  readonly host: string | undefined;
  readonly timeoutMs: number | undefined;
  /** Announces a second. */
  readonly rate: number | undefined;
  /** Announces at once. */
  readonly concurrency: number | undefined;
  readonly proxy: string | undefined;
  readonly groups: readonly string[];
  /** It is from a remote list: it may only lead to public addresses. */
  readonly isPublicOnly: boolean;
}

export interface ForwarderList {
  readonly specs: readonly ForwarderSpec[];
  /** What was refused, each with file and line. */
  readonly problems: readonly string[];
}

const KNOWN = ["uri", "name", "ip", "host", "timeout", "rate", "concurrency", "proxy", "groups"];
const NAME_CHARS_MAX = 200;

/** `source` is the file or the address of the list, for messages. */
export function parseForwarders(text: string, source: string, isRemote = false): ForwarderList {
  if (Buffer.byteLength(text) > LIST_BYTES_MAX) {
    return { specs: [], problems: [`${source}: longer than ${LIST_BYTES_MAX} bytes`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, maxAliasCount: 0 } as never);
  const [error] = document.errors;
  if (error !== undefined) {
    const at = lines.linePos(error.pos[0]).line;
    return { specs: [], problems: [`${source}:${at}: ${error.message.split("\n")[0]}`] };
  }
  const { contents } = document;
  if (contents === null) return { specs: [], problems: [] };
  if (!isSeq(contents)) return { specs: [], problems: [`${source}:1: must be a list`] };
  const specs: ForwarderSpec[] = [];
  const problems: string[] = [];
  const seen = new Map<string, number>();
  for (const item of contents.items) {
    const offset = (item as { range?: [number, number, number] }).range?.[0] ?? 0;
    const { line } = lines.linePos(offset);
    try {
      if (specs.length >= FORWARDERS_MAX) throw new Error(`more than ${FORWARDERS_MAX} forwarders`);
      const given = specOf(isScalar(item) ? { uri: item.value } : fieldsOf(item), isRemote);
      const spec = seen.has(given.uri) ? given : withOwnName(given, (name) => seen.has(name));
      for (const identity of [spec.name, spec.uri]) {
        const first = seen.get(identity);
        if (first !== undefined) throw new Error(`${identity} is a duplicate of line ${first}`);
      }
      seen.set(spec.name, line).set(spec.uri, line);
      specs.push(spec);
    } catch (thrown) {
      problems.push(`${source}:${line}: ${(thrown as Error).message}`);
    }
  }
  return { specs, problems };
}

/** If no name was chosen and the host is already another's name, the port distinguishes them. */
export function withOwnName(
  spec: ForwarderSpec,
  isTaken: (name: string) => boolean,
): ForwarderSpec {
  const { hostname, host } = new URL(spec.uri);
  if (spec.name !== hostname || !isTaken(hostname)) return spec;
  const name = isTaken(host) || host === hostname ? `${spec.protocol}:${host}` : host;
  return { ...spec, name };
}

function fieldsOf(item: unknown): Record<string, unknown> {
  if (!isMap(item)) throw new Error("an entry must be a uri, or a map with a uri");
  const fields: Record<string, unknown> = Object.create(null);
  for (const { key, value } of (item as YAMLMap).items) {
    const name = String(isScalar(key) ? key.value : key);
    if (!KNOWN.includes(name)) {
      throw new Error(`${JSON.stringify(name)} is not a known key; known are ${KNOWN.join(", ")}`);
    }
    fields[name] = (value as { toJSON?: () => unknown } | null)?.toJSON?.() ?? undefined;
  }
  return fields;
}

function specOf(fields: Record<string, unknown>, isRemote: boolean): ForwarderSpec {
  const url = parseUri(fields.uri);
  if (isRemote && fields.proxy !== undefined) throw new Error("a remote list may name no proxy");
  const name = fields.name ?? url.hostname;
  if (typeof name !== "string" || name === "" || name.length > NAME_CHARS_MAX) {
    throw new Error(`name must be 1 to ${NAME_CHARS_MAX} characters, got ${JSON.stringify(name)}`);
  }
  return {
    uri: url.href,
    name,
    protocol: url.protocol.slice(0, -1) as ForwarderSpec["protocol"],
    ip: textOf("ip", fields.ip, "an address", (ip) => isIPv4(ip) || isIPv6(ip)),
    host: textOf("host", fields.host, "a host name", (host) => /^[\w.:[\]-]{1,255}$/.test(host)),
    timeoutMs: numberOf("timeout", fields.timeout, "seconds from 1 to 300", 1, 300, 1000),
    rate: numberOf("rate", fields.rate, "announces a second, from 0.001 to 10000", 0.001, 10_000),
    concurrency: wholeOf("concurrency", fields.concurrency),
    proxy: proxyOf(fields.proxy, url.protocol === "udp:"),
    groups: groupsOf(fields.groups),
    isPublicOnly: isRemote,
  };
}

/** An HTTP proxy carries no UDP. */
function proxyOf(value: unknown, isUdp: boolean): string | undefined {
  const pattern = isUdp ? /^socks5:\/\/\S+$/ : /^(?:http|socks5):\/\/\S+$/;
  const wanted = isUdp ? "a socks5 address for a forwarder of udp" : "an http or socks5 address";
  return textOf("proxy", value, wanted, (text) => pattern.test(text) && URL.canParse(text));
}

function parseUri(uri: unknown): URL {
  if (typeof uri !== "string" || !URL.canParse(uri)) {
    throw new Error(`uri must be an address, got ${JSON.stringify(uri)}`);
  }
  const url = new URL(uri);
  if (!["http:", "https:", "udp:"].includes(url.protocol) || url.hostname === "") {
    throw new Error(`uri must be of http, https or udp, got ${JSON.stringify(uri)}`);
  }
  if (url.protocol === "udp:" && url.port === "") {
    throw new Error(`uri of udp needs a port, got ${JSON.stringify(uri)}`);
  }
  if (url.username !== "" || url.password !== "") throw new Error("uri must not hold a password");
  return url;
}

function textOf(
  name: string,
  value: unknown,
  wanted: string,
  isGood: (text: string) => boolean,
): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && isGood(value)) return value;
  throw new Error(`${name} must be ${wanted}, got ${JSON.stringify(value)}`);
}

function numberOf(
  name: string,
  value: unknown,
  wanted: string,
  min: number,
  max: number,
  factor = 1,
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= min && value <= max) return value * factor;
  throw new Error(`${name} must be ${wanted}, got ${JSON.stringify(value)}`);
}

function wholeOf(name: string, value: unknown): number | undefined {
  const number = numberOf(name, value, "a whole number from 1 to 1000", 1, 1000);
  if (number === undefined || Number.isInteger(number)) return number;
  throw new Error(`${name} must be a whole number from 1 to 1000, got ${number}`);
}

function groupsOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((group) => typeof group === "string")) return value;
  throw new Error(`groups must be a list of names, got ${JSON.stringify(value)}`);
}
