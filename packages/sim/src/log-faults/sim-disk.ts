// A disk that forgets: bytes are durable after a sync of their file, names after a sync of their
// directory. A power loss keeps any 512-byte parts of what was not synced, and any changed names.
//
// A sync that fails leaves the bytes in the cache, where they can be read, but takes them for
// written, as Linux does: no later sync makes them durable, only writing them again.

import { basename, dirname, join } from "node:path";
import type { Disk, DiskFile, OpenMode } from "@sluice/log/disk";
import type { Random } from "../random.ts";

const SECTOR_BYTES = 512;

export type DiskCallName =
  | "list"
  | "open"
  | "create"
  | "link"
  | "rename"
  | "unlink"
  | "syncDir"
  | "read"
  | "write"
  | "sync"
  | "truncate"
  | "size";

export interface DiskCall {
  readonly name: DiskCallName;
  readonly path: string;
  // How many calls came before, of any kind.
  readonly count: number;
}

// What to do instead of a call: fail, or take only some of the bytes.
export type Fault = { error: string } | { bytes: number } | undefined;

type Change = { at: number; bytes: Uint8Array } | { size: number };
type Rename = { path: string; node: Node | undefined; also?: string };

class Node {
  cache = new Content();
  durable = new Content();
  // Changes that are not durable yet, the oldest first.
  pending: Change[] = [];
}

class Content {
  #bytes = new Uint8Array(256);
  size = 0;

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.size);
  }

  apply(change: Change): void {
    if ("size" in change) return this.#resize(change.size);
    const end = change.at + change.bytes.length;
    if (end > this.size) this.#resize(end);
    this.#bytes.set(change.bytes, change.at);
  }

  copy(): Content {
    const copy = new Content();
    copy.apply({ at: 0, bytes: this.bytes });
    return copy;
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const grown = new Uint8Array(size * 2);
      grown.set(this.bytes);
      this.#bytes = grown;
    }
    this.#bytes.fill(0, Math.min(this.size, size), Math.max(this.size, size));
    this.size = size;
  }
}

export class SimDisk implements Disk {
  onCall: (call: DiskCall) => Fault = () => undefined;
  calls = 0;
  // How many of the calls take very long.
  stalls = 0;
  // The names as they are, and as they are durable.
  #names = new Map<string, Node>();
  #durableNames = new Map<string, Node>();
  #pendingNames: Rename[] = [];
  #isDead = false;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  // A power loss, now: answers the disk as it is afterwards. This one never answers again.
  crash(): SimDisk {
    this.#isDead = true;
    const after = new SimDisk(this.#random);
    const names = new Map(this.#durableNames);
    const keeps = this.#luck();
    for (const change of this.#pendingNames) if (keeps()) rename(names, change);
    const survivors = new Map<Node, Node>();
    for (const [path, node] of names) {
      let survivor = survivors.get(node);
      if (survivor === undefined) {
        survivor = new Node();
        survivor.durable = this.#survive(node);
        survivor.cache = survivor.durable.copy();
        survivors.set(node, survivor);
      }
      after.#names.set(path, survivor);
    }
    after.#durableNames = new Map(after.#names);
    return after;
  }

  // The same disk as it can be read now, everything durable.
  copy(): SimDisk {
    const copy = new SimDisk(this.#random);
    for (const [path, { cache }] of this.#names) copy.put(path, cache.bytes);
    return copy;
  }

  // Files as a process outside the log sees and damages them.
  files(dir: string): Map<string, Uint8Array> {
    const files = new Map<string, Uint8Array>();
    for (const [path, { cache }] of this.#names) {
      if (dirname(path) === dir) files.set(basename(path), cache.bytes.slice());
    }
    return files;
  }

  put(path: string, bytes: Uint8Array): void {
    const node = new Node();
    node.cache.apply({ at: 0, bytes });
    node.durable.apply({ at: 0, bytes });
    this.#names.set(path, node);
    this.#durableNames.set(path, node);
  }

  remove(path: string): void {
    this.#names.delete(path);
    this.#durableNames.delete(path);
  }

  // Directories are the beginnings of paths: there is nothing to make.
  async makeDir(): Promise<void> {}

  list(path: string): Promise<string[]> {
    return this.#call("list", path, () => {
      const depth = path.split("/").length;
      const inside = [...this.#names.keys()].filter((name) => name.startsWith(`${path}/`));
      return [...new Set(inside.map((name) => name.split("/")[depth]!))];
    });
  }

  open(path: string, how: OpenMode): Promise<DiskFile> {
    return this.#call(how === "create" ? "create" : "open", path, () => {
      let node = this.#names.get(path);
      if (node === undefined) {
        if (how !== "create") throw errorOf("ENOENT", path);
        node = new Node();
        this.#rename({ path, node });
      } else if (how === "create") this.#change(node, { size: 0 });
      return this.#fileOf(node, path);
    });
  }

  link(from: string, to: string): Promise<void> {
    return this.#call("link", to, () => {
      const node = this.#names.get(from);
      if (node === undefined) throw errorOf("ENOENT", from);
      if (this.#names.has(to)) throw errorOf("EEXIST", to);
      this.#rename({ path: to, node });
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call("rename", to, () => {
      const node = this.#names.get(from);
      if (node === undefined) throw errorOf("ENOENT", from);
      this.#rename({ path: to, node, also: from });
    });
  }

  unlink(path: string): Promise<void> {
    return this.#call("unlink", path, () => {
      if (!this.#names.has(path)) throw errorOf("ENOENT", path);
      this.#rename({ path, node: undefined });
    });
  }

  syncDir(path: string): Promise<void> {
    const isInside = ({ path: name, also }: Rename): boolean =>
      dirname(name) === path || (also !== undefined && dirname(also) === path);
    const covered = this.#pendingNames.filter(isInside);
    return this.#call("syncDir", path, () => {
      for (const change of covered) rename(this.#durableNames, change);
      this.#pendingNames = this.#pendingNames.filter((change) => !covered.includes(change));
    });
  }

  #fileOf(node: Node, path: string): DiskFile {
    return {
      read: (into, at) =>
        this.#call("read", path, () => {
          const bytes = node.cache.bytes.subarray(at, at + into.length);
          into.set(bytes);
          return bytes.length;
        }),
      write: (bytes, at) => {
        const taken = new Uint8Array(bytes);
        return this.#call("write", path, (limit) => {
          const written = taken.subarray(0, limit);
          this.#change(node, { at, bytes: written });
          return written.length;
        });
      },
      sync: () => this.#sync(node, path),
      truncate: (size) => this.#call("truncate", path, () => this.#change(node, { size })),
      sizeBytes: () => this.#call("size", path, () => node.cache.size),
      isAt: (name) => this.#names.get(name) === node,
      close: async () => {},
    };
  }

  async #sync(node: Node, path: string): Promise<void> {
    const covered = node.pending.length;
    try {
      await this.#call("sync", path, () => {
        for (const change of node.pending.splice(0, covered)) node.durable.apply(change);
      });
    } catch (error) {
      this.#lose(node, covered);
      throw error;
    }
  }

  #change(node: Node, change: Change): void {
    node.cache.apply(change);
    node.pending.push(change);
  }

  #rename(change: Rename): void {
    rename(this.#names, change);
    this.#pendingNames.push(change);
  }

  // A sync has failed: some of it may be durable, the rest never will be.
  #lose(node: Node, covered: number): void {
    const keeps = this.#luck();
    for (const change of node.pending.splice(0, covered)) {
      for (const part of sectorsOf(change)) if (keeps()) node.durable.apply(part);
    }
  }

  #survive(node: Node): Content {
    const content = node.durable.copy();
    const keeps = this.#luck();
    for (const change of node.pending) {
      for (const part of sectorsOf(change)) if (keeps()) content.apply(part);
    }
    // The size may be durable without the bytes.
    if (node.pending.length > 0 && this.#random.chance(0.3)) {
      content.apply({ size: Math.max(content.size, node.cache.size) });
    }
    return content;
  }

  // Nothing, everything, the beginning, or anything of what is asked for, one by one.
  #luck(): () => boolean {
    const likely = this.#random.pick([0, 0.2, 0.5, 0.8, 0.95, 1]);
    if (this.#random.chance(0.7)) return () => this.#random.chance(likely);
    let isOver = false;
    return () => {
      isOver ||= this.#random.chance(0.2);
      return !isOver;
    };
  }

  // Takes a while, so that calls overtake each other; then acts at one moment.
  async #call<T>(name: DiskCallName, path: string, act: (limit: number) => T): Promise<T> {
    const fault = this.onCall({ name, path, count: this.calls++ });
    const most = this.stalls > 0 && this.#random.chance(this.stalls) ? 1000 : 3;
    for (let pause = this.#random.below(most); pause >= 0; pause--) await undefined;
    if (this.#isDead) await new Promise(() => {});
    if (fault !== undefined && "error" in fault) throw errorOf(fault.error, path);
    return act(fault?.bytes ?? Number.POSITIVE_INFINITY);
  }
}

function rename(names: Map<string, Node>, { path, node, also }: Rename): void {
  if (also !== undefined) names.delete(also);
  if (node === undefined) names.delete(path);
  else names.set(path, node);
}

function* sectorsOf(change: Change): Generator<Change> {
  if ("size" in change) {
    yield change;
    return;
  }
  const { at, bytes } = change;
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + SECTOR_BYTES - ((at + start) % SECTOR_BYTES));
    yield { at: at + start, bytes: bytes.subarray(start, end) };
    start = end;
  }
}

function errorOf(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${path}`), { code });
}

export const DIR = "/log";
export const fileIn = (name: string): string => join(DIR, name);
