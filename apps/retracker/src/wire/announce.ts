/** An announce and its answer, whatever protocol they come by. */

/** The codes of BEP 15. */
export const NONE = 0;
export const COMPLETED = 1;
export const STARTED = 2;
export const STOPPED = 3;
export type AnnounceEvent = typeof NONE | typeof COMPLETED | typeof STARTED | typeof STOPPED;

export const EVENT_NAMES = ["", "completed", "started", "stopped"] as const;

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
}
