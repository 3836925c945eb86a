import { SluiceError } from "@sluice/protocol";

/**
 * The oldest nats-server that passes the fault suite. 2.9.10 keeps another history on a server that
 * was cut off from its peers; 2.10.27 does not serve its streams again after full disks.
 */
export const NATS_OLDEST = "2.15.1";

/** Refuses a server that is older than all that were tested. */
export function checkNatsVersion(version: string, place: string): void {
  if (isTestedNats(version)) return;
  const message =
    `${place} is nats-server ${version}; Sluice needs ${NATS_OLDEST} or newer, because older ones ` +
    "did not pass its fault tests. Upgrade it, or accept that with --allow-untested-nats";
  throw new SluiceError("INVALID", message, { field: "allow-untested-nats", value: version });
}

export function isTestedNats(version: string): boolean {
  const [found, oldest] = [numbersOf(version), numbersOf(NATS_OLDEST)];
  const differs = oldest.findIndex((number, i) => number !== found[i]);
  return differs === -1 || (found[differs] ?? 0) > oldest[differs]!;
}

/** A preview counts as the release that it previews. */
function numbersOf(version: string): number[] {
  return version.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
}
