import type { NatsConnection } from "@nats-io/transport-node";

type Listener = () => void;

/**
 * Whether a connection is up, for all logs that use it. One for each connection. It also ends
 * a connection whose server is stuck, where the client alone would not.
 */
export class NatsLink {
  static readonly #links = new WeakMap<NatsConnection, NatsLink>();
  readonly #connection: NatsConnection;
  readonly #listeners = new Set<Listener>();
  #isUp = true;

  static of(connection: NatsConnection): NatsLink {
    const known = NatsLink.#links.get(connection);
    if (known !== undefined) return known;
    const link = new NatsLink(connection);
    NatsLink.#links.set(connection, link);
    return link;
  }

  private constructor(connection: NatsConnection) {
    this.#connection = connection;
    void this.#follow();
    void connection.closed().then(() => this.#set(false));
  }

  get isUp(): boolean {
    return this.#isUp && !this.#connection.isClosed();
  }

  get isClosed(): boolean {
    return this.#connection.isClosed();
  }

  /** Called after each change. Answers how to end that. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect") this.#set(false);
      else if (type === "reconnect") this.#set(true);
      else if (type === "staleConnection") cut(this.#connection);
    }
  }

  #set(isUp: boolean): void {
    this.#isUp = isUp;
    for (const listener of [...this.#listeners]) listener();
  }
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
