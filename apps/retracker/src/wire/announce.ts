/** An announce and its answer, for every protocol. */

/** The codes of BEP 15, and one for the event of BEP 21, which UDP has not. */
export const NONE = 0;
export const COMPLETED = 1;
export const STARTED = 2;
export const STOPPED = 3;
/** The client has all that it wants, and not all that there is. */
export const PAUSED = 4;
export type AnnounceEvent =
  | typeof NONE
  | typeof COMPLETED
  | typeof STARTED
  | typeof STOPPED
  | typeof PAUSED;

export const EVENT_NAMES = ["", "completed", "started", "stopped", "paused"] as const;

/** Bytes are kept in strings, one per character: they are keys of maps. */
export interface Announce {
  readonly hash: string;
  readonly peerId: string;
  /** The peer's address, 4 or 16 bytes. */
  address: string;
  readonly port: number;
  /** Unsigned 64 bit: a bigint only where a number would lose digits. */
  readonly uploaded: number | bigint;
  readonly downloaded: number | bigint;
  readonly left: number | bigint;
  readonly event: AnnounceEvent;
  /** Unsigned 32 bit; 0 when the client sent none. */
  readonly key: number;
  readonly numwant: number;
}

/** Who a peer of a hash is: its address and port, in the compact form of 6 or 18 bytes. */
export function endpointOf({ address, port }: Pick<Announce, "address" | "port">): string {
  return address + String.fromCharCode(port >> 8, port & 0xff);
}

export function addressOf(endpoint: string): string {
  return endpoint.slice(0, -2);
}

export function portOf(endpoint: string): number {
  const end = endpoint.length;
  return (endpoint.charCodeAt(end - 2) << 8) | endpoint.charCodeAt(end - 1);
}

/** What one customer has: an IPv4 address, or the first half of one of IPv6. */
export function networkOf(address: string): string {
  return address.length === 4 ? address : address.slice(0, 8);
}

/** The answer to a client that is refused. */
export interface Refused {
  readonly failure: string;
  /** BEP 31: minutes after which it may try again. */
  readonly retryInMinutes?: number;
}

export interface ScrapeCounts {
  complete: number;
  downloaded: number;
  incomplete: number;
  /** BEP 21: of the incomplete ones those that download. */
  downloaders: number;
}
