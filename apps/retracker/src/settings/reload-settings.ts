/** Which settings a reload takes over, and which need a restart. */
import { KEYS, type Settings } from "./settings.ts";

/** Read where they are used, each time. */
const RELOADED: ReadonlySet<keyof Settings> = new Set([
  "announce_interval",
  "interval_spread_pct",
  "tracker_id",
  "age",
  "full_scrape",
  "passkeys_file",
  "show_peer_ids",
  "allow",
  "deny",
  "never_forward",
  "allow_file",
  "deny_file",
  "never_forward_file",
  "stats_token",
  "forwarders",
  "forwarder_lists",
  "groups",
  "first_announce_wait_ms",
  "queue_throttle_threshold",
  "queue_throttle_top_n",
  "queue_rate_limit_threshold",
  "retry_period",
  "forwarder_suspend_seconds",
  "max_forwarders_per_announce",
  "forward_timeout",
  "forwarder_retry_attempts",
  "forwarder_retry_base_ms",
  "forwarder_fail_threshold",
  "prometheus_enabled",
  "metrics_prefix",
] satisfies (keyof Settings)[]);

/** Changes `settings` in place; answers the changed keys that need a restart. */
export function takeOver(settings: Settings, fresh: Settings): string[] {
  const later: string[] = [];
  for (const key of KEYS) {
    if (JSON.stringify(settings[key]) === JSON.stringify(fresh[key])) continue;
    if (RELOADED.has(key)) Object.assign(settings, { [key]: fresh[key] });
    else later.push(key);
  }
  return later;
}
