/** `sluice retracker`: starts, says what it does, reloads on SIGHUP, ends on SIGINT and SIGTERM. */

import { readFileSync } from "node:fs";
import { SystemClock } from "sluice";
import { Chore } from "./chore.ts";
import { openDashboard } from "./dashboard.ts";
import { makePasskey } from "./passkeys.ts";
import { Retracker } from "./retracker.ts";
import { EXPLAINED } from "./settings/explained.ts";
import { readSettings } from "./settings/read-settings.ts";
import { DEFAULTS, KEYS, type Settings, SettingsError } from "./settings/settings.ts";

export interface Surroundings {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly print?: (line: string) => void;
  /** Ends the command, like a signal. */
  readonly signal?: AbortSignal;
}

/** Answers the exit code when the retracker has ended. */
export async function main(flags: readonly string[], around: Surroundings = {}): Promise<number> {
  const { environment = process.env, print = console.log } = around;
  if (flags.includes("--help") || flags.includes("-h")) {
    print(help());
    return 0;
  }
  if (flags[0] === "--make-passkey") return newPasskey(flags[1], print);
  if (flags.includes("--version")) {
    print(version());
    return 0;
  }
  const onWarning = (text: string): void => print(`retracker: ${text}`);
  const read = (): Settings => readSettings({ flags, environment, onWarning });
  let settings: Settings;
  try {
    settings = read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    print(error.message);
    return 2;
  }
  const tell = (error: unknown): void => print(`retracker: ${describe(error, settings.debug)}`);
  try {
    const retracker = await Retracker.open({ settings, onError: tell });
    try {
      await serveAll({ retracker, read, print, tell, signal: around.signal });
    } finally {
      await retracker.close();
    }
    return 0;
  } catch (error) {
    tell(error);
    return 1;
  }
}

/** The dashboard is there as long as the tracker serves. */
async function serveAll(serving: Serving): Promise<void> {
  const { retracker, print } = serving;
  const dashboard = await openDashboard(retracker);
  try {
    for (const line of greeting(retracker)) print(line);
    if (dashboard !== undefined) print(`dashboard ${dashboard.address}/`);
    await serve(serving);
  } finally {
    await dashboard?.close({ timeout: 1_000 });
  }
}

interface Serving {
  readonly retracker: Retracker;
  /** Reads flags, environment and file again. */
  readonly read: () => Settings;
  readonly print: (line: string) => void;
  readonly tell: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** Resolves when it is asked to end. */
async function serve({ retracker, read, print, tell, signal }: Serving): Promise<void> {
  const reload = async (): Promise<void> => {
    try {
      for (const problem of await retracker.reload(read())) print(`retracker: ${problem}`);
      const { forwarderCount, passkeyCount, settings } = retracker;
      const held = settings.private ? `${passkeyCount} passkeys` : `${forwarderCount} forwarders`;
      print(`retracker: reloaded, ${held}`);
    } catch (error) {
      tell(error);
    }
  };
  const { stats_interval: seconds } = retracker.settings;
  const run = async (): Promise<void> => print(await summary(retracker));
  const clock = new SystemClock();
  const chore =
    seconds === 0 ? undefined : new Chore({ clock, everyMs: seconds * 1000, run, onError: tell });
  const { promise, resolve } = Promise.withResolvers<void>();
  const ends = ["SIGINT", "SIGTERM"] as const;
  process.on("SIGHUP", reload);
  for (const end of ends) process.on(end, resolve);
  signal?.addEventListener("abort", () => resolve());
  if (signal?.aborted) resolve();
  await promise;
  process.off("SIGHUP", reload);
  for (const end of ends) process.off(end, resolve);
  await chore?.stop();
}

/** The name is kept in the file beside the digest, so it is one word. */
function newPasskey(name: string | undefined, print: (line: string) => void): number {
  if (name === undefined || !/^\S{1,64}$/.test(name)) {
    print(
      `--make-passkey needs a name of 1 to 64 characters without spaces, got ${name ?? "none"}`,
    );
    return 2;
  }
  const { key, line } = makePasskey(name);
  print(`${name} announces to /${key}/announce\nadd this line to passkeys_file:\n${line}`);
  return 0;
}

function greeting({ ports, settings, forwarderCount, passkeyCount }: Retracker): string[] {
  const lines: string[] = [];
  const host = (listen: string): string => listen.slice(0, listen.lastIndexOf(":")) || "this-host";
  if (ports.http !== undefined) {
    lines.push(`tracker   http://${host(settings.listen)}:${ports.http}/announce`);
  }
  if (ports.udp !== undefined) {
    lines.push(`          udp://${host(settings.udp_listen)}:${ports.udp}/announce`);
  }
  lines.push(`data      ${settings.durability === "memory" ? "in memory only" : settings.dir}`);
  if (settings.private) lines.push(`private   ${passkeyCount} passkeys; nothing is forwarded`);
  else if (forwarderCount > 0) lines.push(`forwarders ${forwarderCount}`);
  else {
    lines.push(
      "forwarders none: this is an open tracker on its own. To announce to others too, write",
      "          - uri: udp://tracker.example.org:1337/announce",
      "          into a file and start with --forwarders FILE; SIGHUP reads it again.",
    );
  }
  return lines;
}

async function summary(retracker: Retracker): Promise<string> {
  const s = await retracker.statistics();
  return (
    `${s.tracked_hashes} hashes, ${s.local_peers} peers, ${s.announces} announces; queue ` +
    `${s.queue_depth} (${s.queue_fill_pct} %), ${s.active_workers} workers; forwarders ` +
    `${s.active_forwarders} in use, ${s.disabled_forwarders} disabled`
  );
}

function describe(error: unknown, isDebugging: boolean): string {
  if (!(error instanceof Error)) return String(error);
  return isDebugging ? (error.stack ?? error.message) : error.message;
}

function version(): string {
  const file = new URL("../package.json", import.meta.url);
  const { version: number } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return `sluice retracker ${number}`;
}

function help(): string {
  const options = KEYS.map((key) => {
    const value = DEFAULTS[key];
    const shown = Array.isArray(value) ? value.join(",") || "none" : value === "" ? "none" : value;
    const flag = key.replaceAll("_", "-").padEnd(31);
    return `  --${flag} ${String(shown).padEnd(17)} ${EXPLAINED[key]}`;
  });
  return [
    "sluice retracker: a BitTorrent tracker that announces to other trackers behind its answers",
    "",
    "  --config FILE                                       settings in YAML, with the names below (_ for -)",
    ...options,
    "",
    "  --make-passkey NAME                                 prints a new key and its line for --passkeys-file",
    "  --version, --help",
    "",
    "SIGHUP reads the settings, the forwarders, the lists of hashes and the passkeys again.",
    "Each can also be set in the environment (RETRACKER_LISTEN). Flags override the environment,",
    "which overrides the file.",
  ].join("\n");
}
