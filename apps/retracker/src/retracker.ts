/** The retracker as a whole: what it is made of, how it starts, reloads and ends. */
import type { Socket } from "node:net";
import { join } from "node:path";
import { type Clock, Sluice, SystemClock } from "sluice";
import { AddressPace } from "./address-pace.ts";
import { Admission } from "./admission.ts";
import { Chore } from "./chore.ts";
import { HashLists } from "./hash-lists.ts";
import { headersOf } from "./http/head.ts";
import type { HttpRequest } from "./http/http-connection.ts";
import { keyOf } from "./http/paths.ts";
import { Routes } from "./http/routes.ts";
import { HttpServer } from "./http/server.ts";
import { NUMWANT_MAX, RETRY_AFTER_MS_MAX } from "./limits.ts";
import { Opened } from "./opened.ts";
import { CompletedCounts } from "./peers/completed-counts.ts";
import { KeptPeers } from "./peers/kept-peers.ts";
import { Swarms } from "./peers/swarms.ts";
import { takeOver } from "./settings/reload-settings.ts";
import { complete, parseListen, type Settings } from "./settings/settings.ts";
import { PeerCensus } from "./statistics/census.ts";
import { gather, type Statistics } from "./statistics/statistics.ts";
import { statisticsJson } from "./statistics/stats-json.ts";
import { Tracker } from "./tracker.ts";
import { UdpServer } from "./udp/server.ts";
import type { ForwarderSpec } from "./upstream/forwarder-list.ts";
import { type LoadedList, loadFile, loadRemote, unite } from "./upstream/load-forwarders.ts";
import { Upstream } from "./upstream/upstream.ts";
import { WebServer } from "./webtorrent/web-server.ts";
import { isWithin, ranges } from "./wire/address.ts";
import { type Announce, addressOf, endpointOf, NONE, portOf } from "./wire/announce.ts";

export interface RetrackerOptions {
  /** What differs from the defaults. */
  readonly settings?: Partial<Settings>;
  /** Forwarders besides those of the file and the lists. */
  readonly forwarders?: readonly ForwarderSpec[];
  /** A Sluice to live in; then peers are not kept. Without one it opens its own in `dir`. */
  readonly sluice?: Sluice;
  readonly clock?: Clock;
  /** Hears what goes wrong besides requests. Default: the console. */
  readonly onError?: (error: unknown) => void;
}

export interface Ports {
  http: number | undefined;
  udp: number | undefined;
  stats: number | undefined;
}

const PURGE_MS = 60_000;
const HISTORY_MS = 10_000;
const HISTORY_POINTS = 360;

interface Parts {
  readonly sluice: Sluice;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly swarms: Swarms;
  readonly lists: HashLists;
  readonly upstream: Upstream;
  readonly tracker: Tracker;
  readonly web: WebServer | undefined;
  readonly admission: Admission;
  readonly census: PeerCensus;
  readonly onError: (error: unknown) => void;
}

export class Retracker implements AsyncDisposable {
  readonly settings: Settings;
  readonly ports: Ports = { http: undefined, udp: undefined, stats: undefined };
  /** Time, announces a second and queued jobs, for the chart. */
  readonly history: [number, number, number][] = [];
  readonly #parts: Parts;
  readonly #own: readonly ForwarderSpec[];
  readonly #servers: { close(): Promise<void> }[] = [];
  readonly #chores: Chore[] = [];
  #opened = new Opened();
  /** What each list held when it could be read last. */
  readonly #loaded = new Map<string, readonly ForwarderSpec[]>();
  #isHealthy = true;
  #isStarted = false;

  private constructor(parts: Parts, options: RetrackerOptions) {
    this.#parts = parts;
    this.settings = parts.settings;
    this.#own = options.forwarders ?? [];
    parts.sluice.on("error", ({ error }) => {
      this.#isHealthy = false;
      parts.onError(error);
    });
  }

  static async open(options: RetrackerOptions = {}): Promise<Retracker> {
    // What is open when a later step fails, as when a port is taken, is closed again.
    const opened = new Opened();
    try {
      return await Retracker.#openInto(opened, options);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  static async #openInto(opened: Opened, options: RetrackerOptions): Promise<Retracker> {
    const settings = complete(options.settings ?? {});
    const clock = options.clock ?? new SystemClock();
    const onError = options.onError ?? ((error: unknown) => console.error(error));
    const own = options.sluice === undefined ? await openSluice(settings) : undefined;
    if (own !== undefined) opened.defer(() => own.close());
    const sluice = options.sluice ?? own!;
    const { peers_per_hash: peersPerHash, peers_per_address: peersPerAddress } = settings;
    const swarms = new Swarms({ peersPerHash, peersPerAddress });
    const kept = await KeptPeers.open({ ...placeOf(settings, options), clock, swarms, onError });
    opened.defer(() => kept.close());
    const completed = await CompletedCounts.open(sluice);
    const lists = new HashLists();
    const isForwarded = (hash: string): boolean => !settings.private && lists.isForwarded(hash);
    const shared = { sluice, clock, settings, onError };
    const upstream = await Upstream.open({ ...shared, isForwarded, ...peersOf(swarms) });
    opened.defer(() => upstream.close());
    swarms.onEvicted = (hash, address, port) => {
      const isLast = swarms.find(hash) === -1;
      upstream.announcer.gone(hash, endpointOf({ address, port }), isLast).catch(onError);
    };
    const tracker = new Tracker({ settings, clock, swarms, lists, completed, upstream });
    const judge = (hash: string) => lists.judge(hash);
    const web = settings.webtorrent ? new WebServer({ ...shared, completed, judge }) : undefined;
    opened.defer(async () => web?.close());
    const admission = new Admission(settings, clock);
    const census = new PeerCensus(swarms, clock);
    const parts = { ...shared, swarms, lists, upstream, tracker, web, admission, census };
    const retracker = new Retracker(parts, options);
    opened.defer(() => retracker.#stopServing());
    await retracker.#start();
    retracker.#opened = opened;
    return retracker;
  }

  get forwarderCount(): number {
    return this.#parts.upstream.forwarders.all.length;
  }

  get passkeyCount(): number {
    return this.#parts.admission.keys.length;
  }

  statistics(): Promise<Statistics> {
    const { settings } = this.#parts;
    return gather({ ...this.#parts, maxWorkers: settings.max_forwarder_workers });
  }

  /**
   * Reads the forwarders and the lists of hashes again, and takes over settings that were read
   * again; answers what was refused, with file and line.
   */
  async reload(fresh?: Settings): Promise<readonly string[]> {
    const { settings, upstream, lists: hashes } = this.#parts;
    const problems: string[] = [];
    const later = fresh === undefined ? [] : takeOver(settings, fresh);
    if (later.length > 0) problems.push(`changed, but in use after a restart only: ${later}`);
    problems.push(...(await hashes.load(settings)));
    problems.push(...(await this.#parts.admission.load()));
    const lists = [{ source: "options", specs: this.#own }];
    const loads: [source: string, list: Promise<LoadedList>][] = [];
    if (settings.forwarders !== "")
      loads.push([settings.forwarders, loadFile(settings.forwarders)]);
    for (const url of settings.forwarder_lists) loads.push([url, loadRemote(url)]);
    for (const [source, list] of loads) {
      const { specs = this.#loaded.get(source), problems: refused } = await list;
      const isMissing = specs === undefined && source === settings.forwarders;
      // A slip of the pen at the start; while it runs the last list stays in use.
      if (isMissing && !this.#isStarted) throw new Error(refused.join("\n"));
      problems.push(...refused);
      if (specs === undefined) continue;
      this.#loaded.set(source, specs);
      lists.push({ source, specs });
    }
    const united = unite(lists);
    await upstream.replace(united.specs);
    return [...problems, ...united.problems];
  }

  /** By hand; false when there is no forwarder of that name. */
  async switchForwarder(name: string, isOn: boolean): Promise<boolean> {
    const { upstream } = this.#parts;
    const forwarder = upstream.forwarders.find(name);
    if (forwarder === undefined) return false;
    if (isOn) await upstream.switchOn(forwarder);
    else await upstream.forwarders.switchOff(forwarder);
    return true;
  }

  /** Removes what has aged; it is also done each minute. */
  async purge(): Promise<void> {
    await this.#parts.tracker.purge();
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #stopServing(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
    await Promise.all(this.#chores.map((chore) => chore.stop()));
  }

  async #start(): Promise<void> {
    const { clock, settings, onError, upstream } = this.#parts;
    for (const problem of await this.reload()) onError(new Error(problem));
    this.#isStarted = true;
    await this.#listen();
    if (this.ports.http !== undefined) upstream.httpPorts.add(this.ports.http);
    if (this.ports.udp !== undefined) upstream.udpPorts.add(this.ports.udp);
    this.#chores.push(
      new Chore({ clock, everyMs: PURGE_MS, run: () => this.purge(), onError }),
      new Chore({ clock, everyMs: HISTORY_MS, run: () => this.#note(), onError }),
    );
    if (settings.forwarder_lists.length === 0) return;
    const everyMs = settings.forwarder_list_refresh_seconds * 1000;
    const run = async (): Promise<void> => {
      for (const problem of await this.reload()) onError(new Error(problem));
    };
    this.#chores.push(new Chore({ clock, everyMs, run, onError }));
  }

  async #listen(): Promise<void> {
    const { clock, settings, onError, tracker, upstream, swarms, web, admission } = this.#parts;
    const trusted = rangesOf(settings.trusted_ranges);
    const proxies = rangesOf(settings.x_real_ip);
    const perSecond = settings.requests_per_address_per_sec;
    const pace = perSecond === 0 ? undefined : new AddressPace(perSecond);
    const routes = new Routes({
      settings,
      tracker,
      instance: upstream.instance,
      trusted,
      proxies,
      admit: (key) => admission.admit(key),
      isKnown: (key) => admission.isKnown(key),
      statistics: () => this.statistics(),
      statisticsJson: async () => statisticsJson(await this.#parts.census.take(), tracker, swarms),
      isHealthy: () => this.#isHealthy,
    });
    const http = parseListen(settings.listen);
    if (http !== undefined) {
      const answer = routes.answer.bind(routes);
      const isProxy = (address: string): boolean =>
        proxies !== undefined && isWithin(proxies, address);
      const upgrade = (request: HttpRequest, socket: Socket): boolean => {
        if (web === undefined || !routes.mayUpgrade(request)) return false;
        const admit = () => admission.admit(keyOf(request.path) ?? "");
        web.upgrade(headersOf(request.raw), request.path, socket, admit);
        return true;
      };
      const hold = (address: string): number =>
        pace === undefined || isProxy(address) ? 0 : pace.wait(address, performance.now());
      const server = new HttpServer({ answer, onError, hold, isProxy, upgrade });
      this.#servers.push(server);
      this.ports.http = await server.listen(http.host, http.port);
    }
    const udp = parseListen(settings.udp_listen);
    if (udp !== undefined) {
      const admit = (packet: Buffer) => admission.admitPacket(packet);
      const admitScrape = () => admission.admit("");
      const server = new UdpServer({
        tracker,
        clock,
        trusted,
        admit,
        admitScrape,
        pace: (address) => pace?.take(address, performance.now()) ?? true,
        onError,
      });
      this.#servers.push(server);
      this.ports.udp = await server.listen(udp.host, udp.port);
    }
    const stats = parseListen(settings.stats_listen);
    if (stats === undefined) return;
    const answer = (request: HttpRequest) => routes.answerStatistics(request, true);
    const server = new HttpServer({ answer, onError });
    this.#servers.push(server);
    this.ports.stats = await server.listen(stats.host, stats.port);
  }

  #announcesNoted = 0;

  async #note(): Promise<void> {
    const { tracker, upstream, clock } = this.#parts;
    const { depth } = await upstream.queue.figures();
    const rate = (tracker.announces - this.#announcesNoted) / (HISTORY_MS / 1000);
    this.#announcesNoted = tracker.announces;
    this.history.push([clock.now(), rate, depth]);
    if (this.history.length > HISTORY_POINTS) this.history.shift();
  }
}

function openSluice(settings: Settings): Promise<Sluice> {
  const { dir, durability, forwarder_suspend_seconds: seconds } = settings;
  // A suspension is the cooldown of a gate, and may be set to more than an hour.
  const cooldownMax = Math.max(RETRY_AFTER_MS_MAX, seconds * 1000);
  const place = durability === "memory" ? {} : { dir: join(dir, "log") };
  return Sluice.open({ ...place, durability, cooldownMax });
}

/** Where peers are kept: beside the log, whose lock holds for both. */
function placeOf({ dir, durability }: Settings, { sluice }: RetrackerOptions) {
  const isKept = durability !== "memory" && sluice === undefined;
  return { file: isKept ? join(dir, "peers.dat") : undefined, isSynced: durability === "fsync" };
}

function rangesOf(texts: readonly string[]) {
  return texts.length === 0 ? undefined : ranges(texts);
}

/** Local peers as the way upstream sees them. */
function peersOf(swarms: Swarms) {
  const announceOf = (row: number): Announce => {
    return { ...swarms.rows.announceOf(row), event: NONE, numwant: NUMWANT_MAX };
  };
  const localPeer = (hash: string, endpoint: string): Announce | undefined => {
    const row = swarms.rowAt({ hash, address: addressOf(endpoint), port: portOf(endpoint) });
    return row === -1 ? undefined : announceOf(row);
  };
  const anyPeer = (isWanted: (hash: string) => boolean): Announce | undefined => {
    for (const [hash, swarm] of swarms.entries()) {
      if (isWanted(hash)) return announceOf(swarms.member(swarm, 0));
    }
    return undefined;
  };
  return { localPeer, anyPeer };
}
