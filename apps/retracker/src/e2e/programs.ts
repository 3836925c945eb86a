/** Third-party programs of Debian: installed where that is possible, and run. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

const PATHS = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];

/** Program and the package that brings it. */
const PACKAGES: Readonly<Record<string, string>> = {
  opentracker: "opentracker",
  "transmission-daemon": "transmission-daemon",
  "transmission-remote": "transmission-cli",
  aria2c: "aria2",
  "qbittorrent-nox": "qbittorrent-nox",
  rtorrent: "rtorrent",
  danted: "dante-server",
  libtorrent: "python3-libtorrent",
};

const TRANSFER = ["opentracker", "transmission-daemon", "transmission-remote", "aria2c"];

/** Other tests install programs at the same time, and apt serves one of them. */
const INSTALLS_MAX = 3;

/** Undefined when all are there; else why they are not. Under CI that is an error. */
export function missingPrograms(wanted: readonly string[] = TRANSFER): string | undefined {
  const missing = (): string[] => wanted.filter((name) => !isInstalled(name));
  for (let tries = 0; tries < INSTALLS_MAX && missing().length > 0; tries++) {
    if (process.getuid?.() === 0) install(missing());
  }
  const left = missing();
  if (left.length === 0) return undefined;
  const reason = `not installed: ${left.join(", ")} (Debian: apt-get install)`;
  if (process.env.CI !== undefined) throw new Error(reason);
  return reason;
}

/** A module of Debian's Python is no program. */
function isInstalled(name: string): boolean {
  if (name !== "libtorrent") return PATHS.some((path) => existsSync(`${path}/${name}`));
  const { status } = spawnSync("/usr/bin/python3", ["-c", "import libtorrent"]);
  return status === 0;
}

/** Services that packages would start by themselves are kept from it. */
function install(names: readonly string[]): void {
  const packages = [...new Set(names.map((name) => PACKAGES[name]!))];
  const script = [
    "set -e",
    "export DEBIAN_FRONTEND=noninteractive",
    "had=0; [ -e /usr/sbin/policy-rc.d ] && had=1",
    "[ $had = 1 ] || { printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d; }",
    "[ $had = 1 ] || chmod +x /usr/sbin/policy-rc.d",
    "trap '[ $had = 1 ] || rm -f /usr/sbin/policy-rc.d' EXIT",
    // Another test may be installing at the same moment.
    "apt-get update -qq || true",
    `apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=200 ${packages.join(" ")}`,
  ].join("\n");
  spawnSync("sh", ["-c", script], { stdio: "ignore", timeout: 240_000 });
}

/** A program that runs until the test is over. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  output = "";

  constructor(command: string, args: readonly string[], cwd?: string) {
    this.#child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const keep = (chunk: Buffer): void => {
      this.output += chunk.toString();
    };
    this.#child.stdout!.on("data", keep);
    this.#child.stderr!.on("data", keep);
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const [code] = await once(this.#child, "exit");
    return code as number | null;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill(signal);
    await once(this.#child, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
