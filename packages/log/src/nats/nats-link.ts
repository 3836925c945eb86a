import { errors, type NatsConnection } from "@nats-io/transport-node";
import { SERVER_LEFT_MS } from "../limits.ts";

type Listener = () => void;

/** A connection, for people. */
export interface LinkState {
  /** The name of the server; of the last one while there is none. */
  readonly server: string;
  readonly isConnected: boolean;
  /** Wall time since when `isConnected` has this value. */
  readonly since: number;
  readonly reconnects: number;
  /** The last thing that went wrong with it. */
  readonly error?: string | undefined;
}

/**
 * Whether a connection is up, for all logs that use it. One for each connection. It also ends
 * a connection whose server is stuck, where the client alone would not.
 */
export class NatsLink {
  static readonly #links = new WeakMap<NatsConnection, NatsLink>();
  readonly #connection: NatsConnection;
  readonly #listeners = new Set<Listener>();
  #isUp = true;
  #server: string;
  #since = Date.now();
  #reconnects = 0;
  #error: string | undefined;
  /** Servers that were of no use, and when they were left. */
  readonly #leftAt = new Map<string, number>();
  readonly #denied = new Set<string>();

  static of(connection: NatsConnection): NatsLink {
    const known = NatsLink.#links.get(connection);
    if (known !== undefined) return known;
    const link = new NatsLink(connection);
    NatsLink.#links.set(connection, link);
    return link;
  }

  private constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#server = nameOf(connection);
    void this.#follow();
    void connection.closed().then(() => this.#set(false));
  }

  get isUp(): boolean {
    return this.#isUp && !this.#connection.isClosed();
  }

  get state(): LinkState {
    const { isUp: isConnected } = this;
    const [server, since, reconnects] = [this.#server, this.#since, this.#reconnects];
    return { server, isConnected, since, reconnects, error: this.#error };
  }

  /** What the servers have refused to let this login do, such as `publish to sluice.log.x`. */
  get denied(): readonly string[] {
    return [...this.#denied];
  }

  get isClosed(): boolean {
    return this.#connection.isClosed();
  }

  /**
   * Reconnects to another server: the client itself begins with the one that it had. A server that
   * was left a short while ago is passed over, unless all were.
   */
  leaveServer(): void {
    if (!this.isUp) return;
    const passed = new Set<string>();
    const now = performance.now();
    this.#leftAt.set(this.#connection.getServer(), now);
    const again = this.onChange(() => {
      if (!this.isUp) return;
      const server = this.#connection.getServer();
      const isLeft = now - (this.#leftAt.get(server) ?? Number.NEGATIVE_INFINITY) < SERVER_LEFT_MS;
      if (!isLeft || passed.has(server)) return again();
      passed.add(server);
      void this.#connection.reconnect();
    });
    void this.#connection.reconnect();
  }

  /** Called after each change. Answers how to end that. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #follow(): Promise<void> {
    for await (const status of this.#connection.status()) {
      const { type } = status;
      if (type === "error") this.#fail(status.error);
      else if (type === "disconnect") this.#set(false);
      else if (type === "reconnect") {
        this.#reconnects++;
        this.#server = nameOf(this.#connection);
        this.#set(true);
      } else if (type === "staleConnection") cut(this.#connection);
    }
  }

  #fail(error: Error): void {
    this.#error = error.message;
    if (!(error instanceof errors.PermissionViolationError)) return;
    const verb = error.operation === "publish" ? "publish to" : "subscribe to";
    this.#denied.add(`${verb} ${error.subject}`);
  }

  #set(isUp: boolean): void {
    if (isUp !== this.#isUp) this.#since = Date.now();
    this.#isUp = isUp;
    for (const listener of [...this.#listeners]) listener();
  }
}

function nameOf(connection: NatsConnection): string {
  return connection.info?.server_name ?? connection.getServer();
}

/**
 * The client gives a silent server up, but flushes to it first: on a line that is full, to a server
 * that neither reads nor ends, without end. Its type does not tell of its socket.
 */
function cut(connection: NatsConnection): void {
  const { protocol } = connection as { protocol?: Protocol };
  protocol?.transport?.socket?.destroy();
}

interface Protocol {
  readonly transport?: { readonly socket?: { destroy(): void } };
}
