/** Every limit of the retracker on input from outside, each with its reason. */

/** A bencoded text: a full scrape of ten thousand hashes, far above any announce. */
export const BENCODE_BYTES_MAX = 1024 * 1024;

/** Levels of nesting: an answer of a tracker has three. */
export const BENCODE_DEPTH_MAX = 32;

/** Request line and headers of one HTTP request: a scrape of 74 hashes takes 5 KiB. */
export const HTTP_HEAD_BYTES_MAX = 16 * 1024;

/** How long a request may take to come in, and how long a connection may be idle. */
export const HTTP_HEAD_MS = 10_000;
export const HTTP_IDLE_MS = 5_000;

/** Connections in all, and of one address: a few per client behind one router. */
export const HTTP_SOCKETS_MAX = 10_000;
export const HTTP_SOCKETS_PER_ADDRESS_MAX = 100;

/** Requests of one connection, after which it is closed: none stays open without end. */
export const HTTP_REQUESTS_PER_SOCKET_MAX = 1_000;

/** What may wait to be written to one connection before no more is read from it. */
export const HTTP_UNSENT_BYTES_MAX = 256 * 1024;

/** A message of a browser: ten offers of some kilobytes each. */
export const WEB_MESSAGE_BYTES_MAX = 128 * 1024;

/** Messages of one connection: a client with hundreds of torrents says so at once, then rarely. */
export const WEB_MESSAGES_PER_SECOND = 20;
export const WEB_MESSAGES_BURST = 500;

/** Torrents of one connection, and offers of one announce. */
export const WEB_HASHES_PER_SOCKET_MAX = 500;
export const WEB_OFFERS_MAX = 10;

/** What may wait to be sent to a browser before it is cut off. */
export const WEB_UNSENT_BYTES_MAX = 1024 * 1024;

/** Hashes of one scrape: what fits into a UDP packet. */
export const SCRAPE_HASHES_MAX = 74;

/** Hashes of a full scrape, which has to fit into one answer. */
export const FULL_SCRAPE_HASHES_MAX = 10_000;

/** Peers of one answer when the client does not say, and at most. */
export const NUMWANT_DEFAULT = 50;
export const NUMWANT_MAX = 200;

/** Bytes of a UDP answer: below the least MTU of IPv6 with its headers. */
export const UDP_ANSWER_BYTES_MAX = 1232;

/** How long a UDP connection id is good for (BEP 15), and how long we use one of others. */
export const CONNECTION_ID_SECONDS = 120;
export const CONNECTION_ID_CLIENT_MS = 60_000;

/** Addresses whose last good connection id is remembered, so that it is not computed again. */
export const CONNECTION_IDS_REMEMBERED = 10_000;

/** Error packets that one address gets in a second; what comes beyond is ignored. */
export const UDP_ERRORS_PER_SECOND = 50;

/** Addresses whose errors are counted in one second; beyond it none is sent. */
export const UDP_ERROR_ADDRESSES_MAX = 10_000;

/** Hashes in memory; those of one hash and of one address are settings. */
export const HASHES_MAX = 1_000_000;
/** Local peers in all: each takes about 150 bytes, and with forwarders up to a kilobyte. */
export const PEERS_MAX = 4_000_000;

/** Hashes whose completed count is kept; beyond it the oldest are forgotten. */
export const COMPLETED_MAX = 1_000_000;

/** Peers that are kept of one answer of a forwarder: it was asked for 200. */
export const CACHED_PEERS_MAX = 500;

/** Seeders or leechers of one hash that a forwarder is believed: large swarms have 300,000. */
export const COUNT_MAX = 1_000_000;

/** Peers of all forwarders that are kept for one hash. */
export const MERGED_PEERS_MAX = 2_000;

/** Pairs of peer and forwarder that are remembered in all. */
export const REGISTRATIONS_MAX = 1_000_000;

/** Jobs of events in the queue: beyond its capacity, but not without end. */
export const EVENT_JOBS_MAX = 100_000;
/** Of one client address: a client that closes says `stopped` for each of its torrents. */
export const EVENT_JOBS_PER_ADDRESS_MAX = 50_000;

/** Jobs of an address that may have a place of the reserve: it is not busy with so few. */
export const IDLE_ADDRESS_JOBS_MAX = 2;

/** The answer of a forwarder: 200 peers in the long form take 20 KiB. */
export const ANSWER_BYTES_MAX = 1024 * 1024;
export const REDIRECTS_MAX = 3;

/** The longest `Retry-After` that is believed. */
export const RETRY_AFTER_MS_MAX = 3_600_000;

/** The longest interval that is believed, and the shortest. */
export const INTERVAL_SECONDS_MAX = 6 * 3600;
export const INTERVAL_SECONDS_MIN = 60;

/** A `tracker id` of a forwarder, which is sent back to it. */
export const TRACKER_ID_BYTES_MAX = 128;

/** The text of a failure that is shown. */
export const REASON_CHARS_MAX = 200;

/** Forwarders of one list, and bytes of a list, from any source. */
export const FORWARDERS_MAX = 5_000;
export const LIST_BYTES_MAX = 5 * 1024 * 1024;
export const LIST_MS = 10_000;

/** A file of info hashes: a million and a half of them. */
export const HASH_LIST_BYTES_MAX = 64 * 1024 * 1024;

/** A file of passkeys: a hundred thousand users. */
export const PASSKEYS_BYTES_MAX = 16 * 1024 * 1024;

/** Clients with their versions in the statistics; strangers choose what they call themselves. */
export const CLIENTS_SHOWN_MAX = 1_000;

/** A configuration file: it is written by hand. */
export const CONFIG_BYTES_MAX = 1024 * 1024;

/** Pairs of hash and forwarder that are remembered as refused for good; beyond it the newest. */
export const NEVER_MAX = 100_000;

/** Retries that a forwarder may ask for in a row before the announce counts as failed. */
export const DEFERRALS_MAX = 5;
