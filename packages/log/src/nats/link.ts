import type { NatsConnection } from "@nats-io/transport-node";

type Listener = () => void;

/** Whether a connection stands, told to all logs that use it. One for each connection. */
export class Link {
  static readonly #links = new WeakMap<NatsConnection, Link>();
  readonly #connection: NatsConnection;
  readonly #listeners = new Set<Listener>();
  #isUp = true;

  static of(connection: NatsConnection): Link {
    const known = Link.#links.get(connection);
    if (known !== undefined) return known;
    const link = new Link(connection);
    Link.#links.set(connection, link);
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
    }
  }

  #set(isUp: boolean): void {
    this.#isUp = isUp;
    for (const listener of [...this.#listeners]) listener();
  }
}
