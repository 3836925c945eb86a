/** Redirects that a call to the outside follows: to https, to another host, and one more. */
export const REDIRECTS_MAX = 3;

/** Ports of addresses that the operator did not choose: those of the web, no inner service's. */
export const STRANGERS_PORTS: readonly number[] = [80, 443];

/** Sockets kept for the next call to the same host, and for how long: servers close them soon. */
export const IDLE_SOCKETS_MAX = 64;
export const IDLE_SOCKET_MS = 5_000;

/** Webhooks on their way at once, in all and to one host: a slow receiver must not take all. */
export const WEBHOOKS_AT_ONCE = 16;
export const WEBHOOKS_PER_HOST = 4;

/** About a day and a half of attempts: a receiver may be away for a night. */
export const WEBHOOK_RETRY = { attempts: 15, min: "5s", max: "6h", factor: 2.5 } as const;

/**
 * How long a receiver is left alone that fails. As many messages as are on their way at once fail
 * together, so each pause is there as often.
 */
export const WEBHOOK_LADDER = (["5s", "1m", "10m", "1h"] as const).flatMap((pause) =>
  new Array<typeof pause>(WEBHOOKS_PER_HOST).fill(pause),
);

/** Messages of one signer that wait: one whose receiver is dead must not fill the queue. */
export const WEBHOOKS_PER_SIGNER = 10_000;

/** A message that waited this long for its receiver is of no use any more. */
export const WEBHOOK_TTL = "3d";

/** Webhooks that were given up are kept this long for a person to look at. */
export const WEBHOOK_RETENTION = "7d";

export const WEBHOOK_URL_CHARS_MAX = 2_048;

/** Only the status of an answer is of interest. */
export const WEBHOOK_ANSWER_BYTES_MAX = 64 * 1024;

/** How old a webhook may be for its receiver. */
export const WEBHOOK_TOLERANCE_MS = 5 * 60_000;

/** Messages about events of a server: where they wait, and how long one is not sent twice. */
export const EVENT_WEBHOOKS_QUEUE = "sluice-webhooks";
export const EVENT_WEBHOOKS_REPEATS = "24h";
export const EVENT_WEBHOOKS_PER_WEBHOOK = 1_000;

/** How long deliveries may take to end when the server closes; the others go on after a restart. */
export const EVENT_WEBHOOKS_CLOSE_MS = 2_000;
