/** The same figures for Prometheus. An empty prefix gives names that other retrackers use. */
import type { Statistics } from "./statistics.ts";

type Simple = Exclude<keyof Statistics, "scheduled_announces" | "forwarders" | "passkeys">;

const METRICS: readonly (readonly [Simple, string, "gauge" | "counter", string])[] = [
  ["queue_depth", "queue_depth", "gauge", "Announces that wait in the queue"],
  ["queue_capacity", "queue_capacity", "gauge", "Announces that the queue holds"],
  ["queue_fill_pct", "queue_fill_pct", "gauge", "Fill of the queue in percent"],
  ["dropped_full", "queue_dropped_full", "counter", "Announces dropped by a full queue"],
  ["rate_limited", "queue_rate_limited", "counter", "First announces refused by the rate limit"],
  ["throttled_forwarders", "queue_throttled_forwarders", "counter", "Forwarders passed over"],
  ["active_workers", "forwarder_workers", "gauge", "Workers that announce to forwarders"],
  ["max_workers", "forwarder_workers_max", "gauge", "Workers at most"],
  ["pending_jobs", "pending_jobs", "gauge", "Jobs that wait, are delayed or run"],
  ["tracked_hashes", "tracked_hashes", "gauge", "Info hashes with local peers"],
  ["local_peers", "local_peers", "gauge", "Local peers"],
  ["seeders", "seeders", "gauge", "Local peers that have all"],
  ["leechers", "leechers", "gauge", "Local peers that have not"],
  ["peers_ipv4", "peers_ipv4", "gauge", "Local peers of IPv4"],
  ["peers_ipv6", "peers_ipv6", "gauge", "Local peers of IPv6"],
  ["web_peers", "web_peers", "gauge", "Peers in browsers"],
  ["web_announces", "web_announces_total", "counter", "Announces over WebSocket"],
  ["evicted", "evicted_total", "counter", "Peers that made room for others"],
  ["active_forwarders", "active_forwarders", "gauge", "Forwarders in use"],
  ["disabled_forwarders", "disabled_forwarders", "gauge", "Forwarders disabled or off"],
  ["announces", "announces_total", "counter", "Announces of clients"],
  ["scrapes", "scrapes_total", "counter", "Scrapes of clients"],
  ["refused", "refused_total", "counter", "Announces answered with a failure"],
];

export function metricsText(statistics: Statistics, prefix: string): string {
  const lines: string[] = [];
  for (const [field, name, type, help] of METRICS) {
    lines.push(`# HELP ${prefix}${name} ${help}`, `# TYPE ${prefix}${name} ${type}`);
    lines.push(`${prefix}${name} ${statistics[field]}`);
  }
  const up = `${prefix}forwarder_up`;
  const seconds = `${prefix}forwarder_response_seconds`;
  lines.push(`# HELP ${up} Whether a forwarder is in use`, `# TYPE ${up} gauge`);
  for (const { name, state } of statistics.forwarders) {
    lines.push(`${up}{forwarder=${label(name)}} ${state === "active" ? 1 : 0}`);
  }
  lines.push(`# HELP ${seconds} Average response time`, `# TYPE ${seconds} gauge`);
  for (const { name, average_response_ms } of statistics.forwarders) {
    lines.push(`${seconds}{forwarder=${label(name)}} ${average_response_ms / 1000}`);
  }
  return `${lines.join("\n")}\n`;
}

function label(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
