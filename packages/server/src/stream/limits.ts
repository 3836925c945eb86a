/**
 * Every bound of the stream's server end, each with its reason. Those that are options have their
 * default here.
 */

/** A worker whose connection dropped may come back in this time and keep its leases. */
export const RESUME_MS = 2000;

/** Longer is no drop: and beyond 24 days a timer would fire at once. */
export const RESUME_MS_MAX = 3_600_000;

/** A client says something this often; one that is silent for twice as long is taken to be gone. */
export const HEARTBEAT_MS = 10_000;
export const SILENCES_MAX = 2;

/** From the connection to the greeting: a program sends it at once, a slow attacker does not. */
export const HANDSHAKE_MS = 10_000;

/**
 * Messages of one connection. A client puts all that it sends in one turn of its event loop into
 * one message, so a busy one sends some thousand a second. What was held up for two seconds may
 * arrive at once. A ping needs an answer and brings nothing, so it counts as 50 messages.
 */
export const MESSAGES_PER_SECOND_MAX = 50_000;
export const MESSAGES_BURST = 100_000;
export const PING_MESSAGES = 50;

/** Messages and pings before the welcome: one greeting is right. */
export const GREETING_MESSAGES_MAX = 16;

/** Parts of one message. Clients need not split any; the largest message has parts of 384 KiB. */
export const FRAGMENTS_MAX = 64;

/** Connections in all and from one address: each costs a socket and some kilobytes. */
export const CONNECTIONS_MAX = 10_000;
export const CONNECTIONS_PER_ADDRESS_MAX = 1000;

/**
 * Streams to partitions from one address, which are counted apart: a program has one for each
 * partition that it uses. Half of all, so that no machine keeps the others out.
 */
export const PARTITION_STREAMS_PER_ADDRESS_MAX = 5000;

/** Bytes that wait in a socket: above it no more jobs are asked for and nothing more is read. */
export const BUFFERED_BYTES_MAX = 4 * 1024 * 1024;

/** Payloads that may be on their way to one consumer before its socket is looked at again. */
export const WINDOW_BYTES = 4 * 1024 * 1024;

/** Jobs of that window: few until their size is known, many when they turn out to be small. */
export const WINDOW_JOBS_FIRST = 64;
export const WINDOW_JOBS_MAX = 4000;

/** Credits of one consumer, the broker's own bound. */
export const CREDITS_MAX = 100_000;

/** What was sent and the client has not told of: one that never tells is not kept on for ever. */
export const KEPT_BYTES_MAX = 64 * 1024 * 1024;

export interface SessionBounds {
  /** Requests that are read and not answered: above it nothing more is read. */
  readonly requestsBytesMax: number;
  readonly requestsMax: number;
  /** Polls, readers and those who wait for the end of a job. */
  readonly waitingMax: number;
  readonly consumersMax: number;
}

/** Of the session of one client. */
export const CLIENT_BOUNDS: SessionBounds = {
  requestsBytesMax: 32 * 1024 * 1024,
  requestsMax: 10_000,
  waitingMax: 10_000,
  consumersMax: 1000,
};

/**
 * Of a session that carries all the clients of another node. Each of them is bounded there, and
 * there are up to `CONNECTIONS_MAX`: this lets each have ten of everything. The bytes are twice
 * what a node has unanswered before it makes adds wait on its own side, so that acks do not wait
 * behind adds that find no room.
 */
export const NODE_BOUNDS: SessionBounds = {
  requestsBytesMax: 128 * 1024 * 1024,
  requestsMax: 100_000,
  waitingMax: 100_000,
  consumersMax: 100_000,
};

/** Leases that are told at once that their worker is gone. */
export const RETURNED_AT_ONCE = 1000;

/** Leases noted for a session before those that ran out are looked for. */
export const HELD_FIRST_LOOK = 10_000;

/** Events that travel together. */
export const EVENTS_AT_ONCE = 256;
