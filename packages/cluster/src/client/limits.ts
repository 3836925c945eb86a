/** Every bound of a client of a cluster, each with its reason. */

/** How long a node is asked to wait for news: a node that is frozen is left after it. */
export const WAIT_MS = 2_000;

/** How long an answer may take beyond that. */
export const ANSWER_MS = 1_500;

/** Between two rounds in which no node answered. */
export const PAUSE_MS = 250;

/** A server that takes the connection and says nothing for so long is frozen. */
export const HANDSHAKE_MS_MAX = 10_000;

/** How long a connection that we close waits for the server's close frame. */
export const FAREWELL_MS_MAX = 500;
