/**
 * A retracker with a clock that a test moves, in memory, on real sockets of the loopback. Workers
 * talk to real servers, so after each step `settled` waits for the ends of their jobs.
 */
import { get, type OutgoingHttpHeaders } from "node:http";
import { FakeClock, Sluice } from "sluice";
import { escapeBytes } from "../http/query.ts";
import { Retracker } from "../retracker.ts";
import type { Settings } from "../settings/settings.ts";
import { type ForwarderSpec, parseForwarders } from "../upstream/forwarder-list.ts";
import { type Bencoded, decode } from "../wire/bencode.ts";

export interface SceneOptions {
  settings?: Partial<Settings>;
  /** Addresses, or entries of a list. */
  forwarders?: readonly (string | { uri: string; [key: string]: unknown })[];
}

/** Elastic workers would look at their load each second of the clock. */
const STILL = {
  listen: "127.0.0.1:0",
  udp_listen: "127.0.0.1:0",
  forwarder_workers: 10,
  max_forwarder_workers: 10,
  // A test of the workers counts them.
  forwarder_reserve_workers: 0,
  // One address plays all the clients.
  queue_share_per_address_pct: 100,
  peers_per_address: 5000,
  requests_per_address_per_sec: 0,
};

const ENDS = ["finished", "retried", "failed", "lease-lost"] as const;

export class TestApp implements AsyncDisposable {
  readonly clock: FakeClock;
  readonly sluice: Sluice;
  readonly retracker: Retracker;
  readonly errors: unknown[];
  #running: () => number;
  #ended: () => Promise<void>;

  private constructor(sluice: Sluice, clock: FakeClock, retracker: Retracker, errors: unknown[]) {
    this.sluice = sluice;
    this.clock = clock;
    this.retracker = retracker;
    this.errors = errors;
    let running = 0;
    let wake = (): void => {};
    sluice.on("started", () => void running++);
    for (const end of ENDS) {
      sluice.on(end, () => {
        running--;
        wake();
      });
    }
    this.#running = () => running;
    this.#ended = () => new Promise((resolve) => (wake = resolve));
  }

  static async open({ settings = {}, forwarders = [] }: SceneOptions = {}): Promise<TestApp> {
    const clock = new FakeClock();
    const sluice = await Sluice.open({ durability: "memory", clock });
    const errors: unknown[] = [];
    const retracker = await Retracker.open({
      settings: { ...STILL, ...settings },
      forwarders: specsOf(forwarders),
      sluice,
      clock,
      onError: (error) => errors.push(error),
    });
    return new TestApp(sluice, clock, retracker, errors);
  }

  get url(): string {
    return `http://127.0.0.1:${this.retracker.ports.http}`;
  }

  /** An announce over HTTP; the answer as a Map. */
  announce(fields: AnnounceFields = {}): Promise<Map<string, Bencoded>> {
    return announceTo(`${this.url}/announce`, fields);
  }

  /** Waits until nothing runs and nothing can run now. */
  async settled(): Promise<void> {
    await this.sluice.drain();
    while (this.#running() > 0) {
      await this.#ended();
      await this.sluice.drain();
    }
  }

  async advance(duration: number | string): Promise<void> {
    await this.clock.advance(duration as never);
    await this.settled();
  }

  forwarder(name: string) {
    return this.retracker
      .statistics()
      .then(({ forwarders }) => forwarders.find((one) => one.name === name)!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retracker.close();
    await this.sluice.close();
  }
}

export function specsOf(forwarders: NonNullable<SceneOptions["forwarders"]>): ForwarderSpec[] {
  const entries = forwarders.map((one, i) =>
    typeof one === "string" ? { uri: one, name: `up${i}` } : { name: `up${i}`, ...one },
  );
  const { specs, problems } = parseForwarders(JSON.stringify(entries), "test");
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return [...specs];
}

export interface AnnounceFields {
  hash?: string;
  peer?: string;
  port?: number;
  left?: number | bigint;
  event?: string | undefined;
  /** The address that the request comes from. */
  from?: string;
  [field: string]: string | number | bigint | undefined;
}

/** 20 bytes that begin with a name. */
export const hashOf = (name: string): string => name.padEnd(20, "\xfe");
export const peerOf = (name: string): string => `-TT0001-${name}`.padEnd(20, "\xfd");

/** Clients behind one address have a port each. */
export function portOfPeer(peer: string): number {
  if (peer === "peer") return 6881;
  let sum = 0;
  for (const letter of peer) sum = (sum * 31 + letter.charCodeAt(0)) % 40_000;
  return 10_000 + sum;
}

export function queryOf(fields: AnnounceFields): string {
  const { hash = "hash", peer = "peer", left = 1, event, from: _from, ...more } = fields;
  const { port = portOfPeer(peer) } = fields;
  const all: Record<string, string | number | bigint | undefined> = {
    info_hash: escapeBytes(hashOf(hash)),
    peer_id: escapeBytes(peerOf(peer)),
    left,
    uploaded: 0,
    downloaded: 0,
    event,
    ...more,
    port,
  };
  return Object.entries(all)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

export async function announceTo(
  url: string,
  fields: AnnounceFields,
): Promise<Map<string, Bencoded>> {
  const { body } = await fetchBytes(`${url}?${queryOf(fields)}`, {}, fields.from);
  return decode(body) as Map<string, Bencoded>;
}

/** Without anything that would change the bytes of the query. */
export function fetchBytes(
  url: string,
  headers: OutgoingHttpHeaders = {},
  localAddress?: string,
): Promise<{ status: number; body: Buffer }> {
  const { hostname, port } = new URL(url);
  const path = url.replace(/^http:\/\/[^/]*/, "");
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const request = get({ host, port, path, headers, agent: false, localAddress }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }),
      );
    });
    request.on("error", reject);
  });
}

/** Compact peers as `address:port`, in order. */
export function peersIn(answer: ReadonlyMap<string, Bencoded>): string[] {
  const bytes = answer.get("peers");
  if (!Buffer.isBuffer(bytes)) throw new Error("there are no compact peers");
  const peers: string[] = [];
  for (let at = 0; at < bytes.length; at += 6) {
    const address = [...bytes.subarray(at, at + 4)].join(".");
    peers.push(`${address}:${bytes.readUInt16BE(at + 4)}`);
  }
  return peers.sort();
}

export function failureIn(answer: ReadonlyMap<string, Bencoded>): string {
  return (answer.get("failure reason") as Buffer | undefined)?.toString() ?? "";
}
