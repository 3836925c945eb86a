/** The settings of the retracker with their defaults. Names are those of the configuration file. */
import { LIST_MAX } from "../peers/row-lists.ts";
import { isLoopback, packAddress, ranges } from "../wire/address.ts";

export interface Settings {
  /** `host:port` or `:port`; an empty text switches it off. */
  listen: string;
  udp_listen: string;
  /** Statistics, metrics and health on an address of their own; empty: on `listen`. */
  stats_listen: string;
  /** Who shows it may see statistics and metrics from anywhere. */
  stats_token: string;
  /** Where the dashboard is; empty: nowhere. */
  dashboard_listen: string;
  /** The key to open it; empty: none, which is refused for a public address. */
  dashboard_key: string;
  announce_interval: number;
  /** By how much of it the interval of each peer is longer, so that they do not come in step. */
  interval_spread_pct: number;
  tracker_id: string;
  x_real_ip: string[];
  trusted_ranges: string[];
  /** Minutes after which a silent peer is removed. */
  age: number;
  full_scrape: boolean;
  /** Announces over WebSocket, for browsers, on `listen`. */
  webtorrent: boolean;
  /** Only who has a key of `passkeys_file` may announce, and nothing is forwarded. */
  private: boolean;
  passkeys_file: string;
  /** Peers of one hash, and of one hash and one address (of IPv6: one /64). */
  peers_per_hash: number;
  peers_per_address: number;
  /** Requests a second of one address; what comes beyond waits over HTTP. 0: no such bound. */
  requests_per_address_per_sec: number;
  /** Whether `compact=0` shows the peer ids of others. */
  show_peer_ids: boolean;
  allow: string[];
  deny: string[];
  never_forward: string[];
  /** Files with more of them, one a line; empty: none. */
  allow_file: string;
  deny_file: string;
  never_forward_file: string;
  forwarders: string;
  forwarder_lists: string[];
  forwarder_list_refresh_seconds: number;
  /** Only forwarders of these groups are used; empty: all. */
  groups: string[];
  first_announce_wait_ms: number;
  forwarder_queue_size: number;
  /** The part of the queue that the announces of one address may take. */
  queue_share_per_address_pct: number;
  forwarder_workers: number;
  /** 0: twice `forwarder_workers`. */
  max_forwarder_workers: number;
  /** Places beyond the workers, for addresses with little to do. */
  forwarder_reserve_workers: number;
  queue_scale_threshold_pct: number;
  queue_throttle_threshold: number;
  queue_throttle_top_n: number;
  queue_rate_limit_threshold: number;
  rate_limit_initial_per_sec: number;
  rate_limit_initial_burst: number;
  retry_period: number;
  forwarder_suspend_seconds: number;
  max_forwarders_per_announce: number;
  forward_timeout: number;
  forwarder_retry_attempts: number;
  forwarder_retry_base_ms: number;
  forwarder_fail_threshold: number;
  stats_interval: number;
  debug: boolean;
  prometheus_enabled: boolean;
  metrics_prefix: string;
  dir: string;
  durability: "fsync" | "os" | "memory";
}

export const DEFAULTS: Readonly<Settings> = {
  listen: ":6969",
  udp_listen: ":6969",
  stats_listen: "",
  stats_token: "",
  dashboard_listen: "",
  dashboard_key: "",
  announce_interval: 1800,
  interval_spread_pct: 0,
  tracker_id: "",
  x_real_ip: [],
  trusted_ranges: [],
  age: 180,
  full_scrape: false,
  webtorrent: true,
  private: false,
  passkeys_file: "",
  peers_per_hash: 5_000,
  peers_per_address: 50,
  requests_per_address_per_sec: 500,
  show_peer_ids: false,
  allow: [],
  deny: [],
  never_forward: [],
  allow_file: "",
  deny_file: "",
  never_forward_file: "",
  forwarders: "",
  forwarder_lists: [],
  forwarder_list_refresh_seconds: 86_400,
  groups: [],
  first_announce_wait_ms: 0,
  forwarder_queue_size: 10_000,
  queue_share_per_address_pct: 50,
  forwarder_workers: 10,
  max_forwarder_workers: 0,
  forwarder_reserve_workers: 10,
  queue_scale_threshold_pct: 60,
  queue_throttle_threshold: 60,
  queue_throttle_top_n: 20,
  queue_rate_limit_threshold: 80,
  rate_limit_initial_per_sec: 10,
  rate_limit_initial_burst: 200,
  retry_period: 300,
  forwarder_suspend_seconds: 300,
  max_forwarders_per_announce: 100,
  forward_timeout: 30,
  forwarder_retry_attempts: 5,
  forwarder_retry_base_ms: 500,
  forwarder_fail_threshold: 10,
  stats_interval: 60,
  debug: false,
  prometheus_enabled: true,
  metrics_prefix: "retracker_",
  dir: "./retracker-data",
  durability: "fsync",
};

/** A setting that is not what it must be; the message names the key and the value. */
export class SettingsError extends Error {}

type Check = (value: unknown) => string | undefined;

const whole =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? undefined
      : `a whole number from ${min} to ${max}`;
const text: Check = (value) => (typeof value === "string" ? undefined : "a text");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");
const percent = whole(0, 100);
const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? undefined
    : "a list of texts";

const listenText: Check = (value) => {
  const match = typeof value === "string" ? /^(.*):(\d{1,5})$/.exec(value) : null;
  const isAddress = value === "" || (match !== null && Number(match[2]) <= 65535);
  return isAddress ? undefined : '":port", "address:port" or "" (off)';
};

const hashes: Check = (value) =>
  texts(value) === undefined && (value as string[]).every((hash) => /^[0-9a-f]{40}$/i.test(hash))
    ? undefined
    : "a list of info hashes of 40 hex digits";

const rangeTexts: Check = (value) => {
  if (texts(value) !== undefined) return "a list of address ranges";
  try {
    ranges(value as string[]);
    return undefined;
  } catch (error) {
    return `a list of address ranges (${(error as Error).message})`;
  }
};

const httpAddresses: Check = (value) =>
  texts(value) === undefined && (value as string[]).every((url) => /^https?:\/\//.test(url))
    ? undefined
    : "a list of http or https addresses";

const DAY_SECONDS = 86_400;

const CHECKS: Readonly<Record<keyof Settings, Check>> = {
  listen: listenText,
  udp_listen: listenText,
  stats_listen: listenText,
  stats_token: text,
  dashboard_listen: listenText,
  dashboard_key: text,
  announce_interval: whole(60, DAY_SECONDS),
  interval_spread_pct: percent,
  tracker_id: text,
  x_real_ip: rangeTexts,
  trusted_ranges: rangeTexts,
  age: whole(1, 7 * 24 * 60),
  full_scrape: flag,
  webtorrent: flag,
  private: flag,
  passkeys_file: text,
  peers_per_hash: whole(2, LIST_MAX),
  peers_per_address: whole(1, LIST_MAX),
  requests_per_address_per_sec: whole(0, 1_000_000),
  show_peer_ids: flag,
  allow: hashes,
  deny: hashes,
  never_forward: hashes,
  allow_file: text,
  deny_file: text,
  never_forward_file: text,
  forwarders: text,
  forwarder_lists: httpAddresses,
  forwarder_list_refresh_seconds: whole(60, 30 * DAY_SECONDS),
  groups: texts,
  first_announce_wait_ms: whole(0, 10_000),
  forwarder_queue_size: whole(1, 1_000_000),
  queue_share_per_address_pct: whole(1, 100),
  forwarder_workers: whole(1, 1_000),
  max_forwarder_workers: whole(0, 1_000),
  forwarder_reserve_workers: whole(0, 1_000),
  queue_scale_threshold_pct: percent,
  queue_throttle_threshold: percent,
  queue_throttle_top_n: whole(0, 5_000),
  queue_rate_limit_threshold: percent,
  rate_limit_initial_per_sec: whole(1, 1_000_000),
  rate_limit_initial_burst: whole(1, 1_000_000),
  retry_period: whole(1, DAY_SECONDS),
  forwarder_suspend_seconds: whole(1, DAY_SECONDS),
  max_forwarders_per_announce: whole(1, 5_000),
  forward_timeout: whole(1, 300),
  forwarder_retry_attempts: whole(1, 20),
  forwarder_retry_base_ms: whole(1, 60_000),
  forwarder_fail_threshold: whole(1, 1_000),
  stats_interval: whole(0, DAY_SECONDS),
  debug: flag,
  prometheus_enabled: flag,
  metrics_prefix: (value) =>
    typeof value === "string" && /^(?:[a-zA-Z_:][a-zA-Z0-9_:]*)?$/.test(value)
      ? undefined
      : "letters, digits and underscores",
  dir: (value) =>
    typeof value === "string" && value !== "" ? undefined : "the path of a directory",
  durability: (value) =>
    value === "fsync" || value === "os" || value === "memory"
      ? undefined
      : '"fsync", "os" or "memory"',
};

export const KEYS = Object.keys(DEFAULTS) as readonly (keyof Settings)[];

export function isKey(name: string): name is keyof Settings {
  return Object.hasOwn(DEFAULTS, name);
}

/** Says what is wrong with a value, or nothing. */
export function judge(key: keyof Settings, value: unknown): string | undefined {
  const wanted = CHECKS[key](value);
  return wanted && `${key} must be ${wanted}, got ${JSON.stringify(value)}`;
}

/** The defaults with what was said; checks what no single value shows. */
export function complete(said: Partial<Settings>): Settings {
  const settings = { ...DEFAULTS, ...said };
  const { forwarder_workers: base } = settings;
  if (settings.max_forwarder_workers === 0) settings.max_forwarder_workers = 2 * base;
  if (settings.max_forwarder_workers < base) {
    throw new SettingsError(
      `max_forwarder_workers (${settings.max_forwarder_workers}) must be at least ` +
        `forwarder_workers (${base})`,
    );
  }
  if (settings.listen === "" && settings.udp_listen === "") {
    throw new SettingsError("listen and udp_listen are both empty; set one of them, such as :6969");
  }
  if (settings.private && settings.passkeys_file === "") {
    throw new SettingsError(
      "private needs passkeys_file, because only clients with a key may announce; set it",
    );
  }
  if (settings.dashboard_key === "" && !isOwn(settings.dashboard_listen)) {
    throw new SettingsError(
      `dashboard_listen (${settings.dashboard_listen}) can be reached from outside: ` +
        "set dashboard_key, or listen on 127.0.0.1",
    );
  }
  return settings;
}

/** Whether only this machine reaches what listens there, or nothing does. */
function isOwn(listen: string): boolean {
  const place = parseListen(listen);
  if (place === undefined || place.host === "localhost") return true;
  return isLoopback(packAddress(place.host ?? "") ?? "");
}

/** `:6969` listens on all addresses. */
export function parseListen(text: string): { host: string | undefined; port: number } | undefined {
  if (text === "") return undefined;
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, colon).replace(/^\[|\]$/g, "");
  return { host: host === "" ? undefined : host, port: Number(text.slice(colon + 1)) };
}
