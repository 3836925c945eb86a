/** The broker on the network: every call of the port over HTTP, for those who may make it. */
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Broker, SluiceError } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { admit } from "./admission.ts";
import { Bucket } from "./bucket.ts";
import { brokerReadiness, healthRoutes, type RecoveryProgress, recovering } from "./health.ts";
import { guard } from "./keys/guard.ts";
import { type CreatedKey, KeyRing } from "./keys/key-ring.ts";
import { ANYONE, type Principal } from "./keys/principal.ts";
import { CLOSE_TIMEOUT_MS, ROOT_KEY_CHARS_MIN } from "./limits.ts";
import { readBroker } from "./metrics/broker-metrics.ts";
import { metricRoutes, newRegistry } from "./metrics/metrics.ts";
import { Readings } from "./metrics/reading.ts";
import { describe } from "./openapi.ts";
import { addRoutes } from "./routes/add.ts";
import { appRoutes } from "./routes/apps.ts";
import { configRoutes } from "./routes/config.ts";
import type { RouteContext } from "./routes/context.ts";
import { eventRoutes } from "./routes/events.ts";
import { gateRoutes } from "./routes/gates.ts";
import { heldRoutes } from "./routes/held.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { keyRoutes } from "./routes/keys.ts";
import { laneRoutes } from "./routes/lanes.ts";
import { leaseRoutes } from "./routes/leases.ts";
import { operateRoutes } from "./routes/operate.ts";
import { queueRoutes } from "./routes/queues.ts";
import { checkAddress, type ShellOptions } from "./shell/options.ts";
import { newShell, type Shell } from "./shell/shell.ts";

export interface ServeOptions extends ShellOptions {
  /** It stays the caller's: closing the server does not close it. A promise while it recovers. */
  broker: Broker | Promise<Broker>;
  /** How far the recovery is, while `broker` is a promise. */
  recovery?: (() => RecoveryProgress | undefined) | undefined;
  /** Ask every caller for a key; with `rootKey`, one that may do everything and is not stored. */
  keys?: boolean | { rootKey?: string | undefined } | undefined;
  /** Routes of one's own beside those of the broker, such as the dashboard's files. */
  routes?: ((app: FastifyInstance) => void | Promise<void>) | undefined;
}

/** What the stream, and whoever else upgrades a connection, needs of the server. */
export interface StreamDoor {
  readonly server: Server;
  /** Refuses with FORBIDDEN an upgrade that a stranger's page may have asked for. */
  checkOrigin(request: IncomingMessage): void;
  /** The broker as the holder of this key may use it, checked on every call. */
  open(apiKey: string | undefined): Promise<Broker>;
  /** Aborted when the server begins to close. */
  readonly closing: AbortSignal;
}

export interface RunningServer {
  /** Such as `http://127.0.0.1:7070`. */
  readonly address: string;
  readonly port: number;
  /** The first key, when there was none: shown this once. */
  readonly firstKey: Promise<CreatedKey | undefined>;
  readonly stream: StreamDoor;
  close(): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const rootKey = typeof options.keys === "object" ? options.keys.rootKey : undefined;
  if (rootKey !== undefined && rootKey.length < ROOT_KEY_CHARS_MIN) {
    const message = `keys.rootKey must have ${ROOT_KEY_CHARS_MIN} characters at least`;
    throw new SluiceError("INVALID", message, { field: "keys.rootKey" });
  }
  const hasKeys = options.keys !== undefined && options.keys !== false;
  checkAddress(options, hasKeys);
  const desk = new Desk(options, hasKeys, rootKey);
  const shell = newShell(options, desk);
  try {
    await addAll(shell, desk, options);
    await shell.app.listen({ host: options.host ?? "127.0.0.1", port: options.port ?? 0 });
  } catch (error) {
    await shell.close();
    throw error;
  }
  return running(shell, desk, options);
}

/** Who stands between the network and the broker: knows the keys, and whether there is a broker. */
class Desk {
  readonly hasKeys: boolean;
  readonly #adds: Bucket | undefined;
  readonly opened: Promise<void>;
  /** Behind the limit on adds. */
  broker: Broker | undefined;
  ring: KeyRing | undefined;
  failure: SluiceError | undefined;

  constructor(options: ServeOptions, hasKeys: boolean, rootKey: string | undefined) {
    this.hasKeys = hasKeys;
    const { addsPerSecond, requestsPerSecond } = options.limits ?? {};
    this.#adds = addsPerSecond === undefined ? undefined : new Bucket(addsPerSecond);
    this.opened = this.#open(options.broker, { rootKey, requestsPerSecond });
    this.opened.catch(() => {});
  }

  async #open(
    opening: Broker | Promise<Broker>,
    options: { rootKey: string | undefined; requestsPerSecond: number | undefined },
  ): Promise<void> {
    try {
      const broker = await opening;
      if (this.hasKeys) this.ring = await KeyRing.open(broker, options);
      this.broker = this.#adds === undefined ? broker : admit(broker, this.#adds);
    } catch (error) {
      this.failure = new SluiceError("CLOSED", "the broker could not be opened");
      throw error;
    }
  }

  addsWaitMs(): number {
    return this.#adds?.waitMs() ?? 0;
  }

  ready(): Broker {
    if (this.broker !== undefined) return this.broker;
    throw (
      this.failure ??
      new SluiceError("RECOVERING", "the log is being read", { retryAfterMs: 1_000 })
    );
  }

  verify(key: string | undefined): Principal {
    if (!this.hasKeys) return ANYONE;
    this.ready();
    return this.ring!.verify(key);
  }

  keys(): KeyRing {
    this.ready();
    if (this.ring !== undefined) return this.ring;
    throw new SluiceError("CONFLICT", "this server asks for no keys: start it with keys first");
  }

  async firstKey(): Promise<CreatedKey | undefined> {
    await this.opened;
    if (this.ring === undefined || !this.ring.isEmpty) return undefined;
    return this.ring.create({ name: "first", grants: [{ action: "admin", on: "*" }] }, ANYONE);
  }
}

async function addAll(shell: Shell, desk: Desk, options: ServeOptions): Promise<void> {
  const { app, closing, limits } = shell;
  const description = "Jobs that go out when they can run: fair between tenants, aware of limits.";
  await describe(app, { title: "Sluice", description });
  const context: RouteContext = {
    broker: ({ principal }) => guard(desk.ready(), principal),
    keys: () => desk.keys(),
    limits,
    closing,
  };
  const groups = [queueRoutes, operateRoutes, laneRoutes, addRoutes, jobRoutes, leaseRoutes];
  const others = [heldRoutes, gateRoutes, configRoutes, keyRoutes, eventRoutes];
  for (const add of [...groups, ...others]) add(app, context);
  appRoutes(app, options.pages ?? []);
  const registry = newRegistry(app);
  const readings = new Readings(registry);
  metricRoutes(app, registry, async () => {
    readings.clear();
    await readBroker(desk.ready(), readings);
  });
  healthRoutes(app, async () =>
    desk.broker === undefined && desk.failure === undefined
      ? recovering(options.recovery?.())
      : brokerReadiness(desk.broker ?? closedBroker(desk)),
  );
  await options.routes?.(app);
}

/** One that answers only why it is not there. */
function closedBroker(desk: Desk): Broker {
  return { stats: () => Promise.reject(desk.failure) } as unknown as Broker;
}

function running(shell: Shell, desk: Desk, options: ServeOptions): RunningServer {
  const { app } = shell;
  const { address, port, family } = app.server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  const firstKey = desk.firstKey();
  firstKey.catch(() => {});
  return {
    address: `${options.tls === undefined ? "http" : "https"}://${host}:${port}`,
    port,
    firstKey,
    stream: {
      server: app.server,
      checkOrigin: shell.checkOrigin,
      open: async (apiKey) => guard(desk.ready(), desk.verify(apiKey)),
      closing: shell.closing,
    },
    close: () => closeWithin(shell, CLOSE_TIMEOUT_MS),
  };
}

/** What is under way may end; after a while it is cut off. */
export async function closeWithin(shell: Shell, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => shell.app.server.closeAllConnections(), timeoutMs);
  try {
    await shell.close();
  } finally {
    clearTimeout(timer);
  }
}
