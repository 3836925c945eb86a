/** Statistics for a person. */
import type { Statistics } from "./statistics.ts";

export function statisticsText(statistics: Statistics): string {
  const { scheduled_announces, forwarders, passkeys, ...figures } = statistics;
  const lines = Object.entries(figures).map(([name, value]) => `${name}: ${value}`);
  lines.push("scheduled_announces:");
  for (const { info_hash, forwarder, time_to_exec } of scheduled_announces) {
    lines.push(`  info_hash ${info_hash} forwarder ${forwarder} time_to_exec ${time_to_exec}s`);
  }
  lines.push("forwarders:");
  for (const one of forwarders) {
    const probe = one.next_probe_seconds < 0 ? "" : `, next probe in ${one.next_probe_seconds}s`;
    const since = one.since_seconds < 0 ? "" : ` since ${one.since_seconds}s`;
    const until = one.suspended_seconds < 0 ? "" : ` for ${one.suspended_seconds}s`;
    const reason = one.reason === "" ? "" : ` (${one.reason}${since}${until}${probe})`;
    const failure =
      one.last_failure === ""
        ? ""
        : `, failures ${one.failures}, last ${one.last_failure_seconds}s ago: ${one.last_failure}`;
    lines.push(
      `  ${one.name} ${one.protocol} ${one.state}${reason}: average ${one.average_response_ms} ms, ` +
        `last interval ${one.last_interval}s${failure}`,
    );
  }
  for (const { name, announces, last_used_seconds: seconds } of passkeys) {
    const used = seconds < 0 ? "never used" : `last used ${seconds}s ago`;
    lines.push(`passkey ${name}: ${announces} announces, ${used}`);
  }
  return lines.join("\n");
}
