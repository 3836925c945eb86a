/** The retracker, for programs that hold it. The command line is `main`. */
export { main } from "./command.ts";
export { page } from "./page.ts";
export { type Ports, Retracker, type RetrackerOptions } from "./retracker.ts";
export { type Settings, SettingsError } from "./settings/settings.ts";
export type { Statistics } from "./statistics/statistics.ts";
export { type ForwarderSpec, parseForwarders } from "./upstream/forwarder-list.ts";

import { Retracker, type RetrackerOptions } from "./retracker.ts";

/** Starts a retracker; it serves when the answer is there, until it is closed. */
export function retracker(options?: RetrackerOptions): Promise<Retracker> {
  return Retracker.open(options);
}
