/** Redirects that a call to the outside follows: to https, to another host, and one more. */
export const REDIRECTS_MAX = 3;

/** Ports of addresses that the operator did not choose: those of the web, no inner service's. */
export const STRANGERS_PORTS: readonly number[] = [80, 443];

/** Sockets kept for the next call to the same host, and for how long: servers close them soon. */
export const IDLE_SOCKETS_MAX = 64;
export const IDLE_SOCKET_MS = 5_000;
