// A network of the test's own: a bridge, and a namespace with an address for each process, so that
// any two of them can be parted by packets that vanish, as a broken switch does it. It needs a
// sandbox (`sandbox.ts`), which takes it all away when the test ends.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

const BRIDGE = "br0";
const PREFIX = "10.77.0.";
// No host receives frames to it.
const NOWHERE = "02:00:00:00:00:01";
const OUTSIDE = "outside";

export interface Host {
  readonly name: string;
  readonly address: string;
  // Runs another command there.
  readonly command: readonly string[];
}

export class TestNetwork {
  readonly #hosts = new Map<string, Host>();
  // "a>b": what a sends to b vanishes.
  readonly #cuts = new Set<string>();

  constructor() {
    // Names of namespaces are kept in a directory, which is the sandbox's own.
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/run"]);
    mkdirSync("/run/netns");
    ip("link", "set", "lo", "up");
    ip("link", "add", BRIDGE, "type", "bridge");
    ip("addr", "add", `${PREFIX}1/24`, "dev", BRIDGE);
    ip("link", "set", BRIDGE, "up");
    this.#hosts.set(OUTSIDE, { name: OUTSIDE, address: `${PREFIX}1`, command: [] });
  }

  // Where the test itself and its clients are.
  get outside(): Host {
    return this.#hosts.get(OUTSIDE)!;
  }

  add(name: string): Host {
    const number = 10 + this.#hosts.size;
    const address = `${PREFIX}${number}`;
    const link = `v${number}`;
    ip("netns", "add", name);
    ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("link", "set", link, "master", BRIDGE, "up");
    ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
    ip("-n", name, "link", "set", "eth0", "up");
    ip("-n", name, "link", "set", "lo", "up");
    const host = { name, address, command: ["ip", "netns", "exec", name] };
    this.#hosts.set(name, host);
    return host;
  }

  // Nothing passes between the hosts of the two sides. Neither side is notified.
  cut(some: readonly Host[], others: readonly Host[]): void {
    this.cutOneWay(some, others);
    this.cutOneWay(others, some);
  }

  // What some send to the others vanishes.
  cutOneWay(some: readonly Host[], others: readonly Host[]): void {
    for (const from of some) {
      for (const to of others) {
        const words = ["replace", to.address, "lladdr", NOWHERE, "nud", "permanent"];
        neighbour(from, ...words);
        this.#cuts.add(`${from.name}>${to.name}`);
      }
    }
  }

  heal(): void {
    for (const cut of this.#cuts) {
      const [from = "", to = ""] = cut.split(">");
      neighbour(this.#hosts.get(from)!, "del", this.#hosts.get(to)!.address);
    }
    this.#cuts.clear();
  }
}

function neighbour({ name }: Host, ...words: string[]): void {
  const [where, device] = name === OUTSIDE ? [[], BRIDGE] : [["-n", name], "eth0"];
  ip(...where, "neigh", ...words, "dev", device);
}

function ip(...words: string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
}
