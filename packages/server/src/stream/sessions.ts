/** The sessions of one server, and how a connection gets one: greeting, key, session. */
import { type Broker, type Clock, SluiceError, toSluiceError } from "@sluice/protocol";
import {
  FrameReader,
  FrameWriter,
  type Hello,
  KIND,
  readHello,
  WIRE_VERSION,
  writeError,
  writeWelcome,
} from "@sluice/protocol/wire";
import { type ServerSocket, Session } from "./session.ts";

/** A client whose key was accepted. */
export interface Admitted {
  /** The port as they may use it. */
  readonly broker: Broker;
  /** Another node of the cluster, which speaks for clients of its own. */
  readonly isNode: boolean;
}

export interface SessionsOptions<Request> {
  /** Lets the owner of this key in, or throws `UNAUTHORIZED`. */
  readonly open: (
    apiKey: string | undefined,
    request: Request,
    client: string,
  ) => Promise<Admitted>;
  readonly server: string;
  readonly resumeMs: number;
  readonly heartbeatMs: number;
  readonly handshakeMs: number;
  readonly clock: Clock;
  readonly defer: (callback: () => void) => void;
}

export class Sessions<Request> {
  readonly #options: SessionsOptions<Request>;
  readonly #sessions = new Map<string, Session>();
  /** Connections that have no session yet. */
  readonly #greeting = new Set<ServerSocket>();
  #isClosed = false;

  constructor(options: SessionsOptions<Request>) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Takes a connection that was just made; the first message must be a greeting. */
  accept(socket: ServerSocket, request: Request): void {
    const { clock, handshakeMs } = this.#options;
    if (this.#isClosed) return socket.close(1001, CLOSING);
    this.#greeting.add(socket);
    const timer = clock.at(clock.now() + handshakeMs, () => {
      socket.onmessage = () => {};
      socket.close(1008, `no greeting within ${handshakeMs} ms`);
    });
    socket.onclose = () => {
      timer.cancel();
      this.#greeting.delete(socket);
    };
    socket.onmessage = (message) => {
      timer.cancel();
      void this.#greet(socket, message, request);
    };
  }

  async #greet(socket: ServerSocket, message: Uint8Array, request: Request): Promise<void> {
    // Nothing may be sent before the answer to the greeting.
    let isGone = false;
    const refuse = (error: unknown, code?: number): void =>
      refuseGreeting(socket, toSluiceError(error), code);
    socket.onmessage = () => refuse(new Error("a message before the welcome"));
    socket.onclose = () => {
      isGone = true;
      this.#greeting.delete(socket);
    };
    try {
      const hello = helloOf(message);
      if (hello === undefined) return refuse(NOT_ALONE, 1002);
      const admitted = await this.#options.open(hello.apiKey, request, hello.client);
      if (!isGone && !this.#isClosed) this.#welcome(socket, hello, admitted);
    } catch (error) {
      refuse(error);
    }
  }

  #welcome(socket: ServerSocket, hello: Hello, admitted: Admitted): void {
    this.#greeting.delete(socket);
    const known = this.#sessions.get(hello.session);
    const isKnown = known?.isResumable === true && known.apiKey === hello.apiKey;
    const session = isKnown ? known : this.#open(hello, admitted);
    const { server, resumeMs, heartbeatMs } = this.#options;
    const writer = new FrameWriter();
    writeWelcome(writer, {
      version: WIRE_VERSION,
      server,
      session: session.id,
      isResumed: isKnown,
      received: session.channel.received,
      resumeMs,
      heartbeatMs,
    });
    socket.send(writer.take());
    socket.greeted?.();
    session.attach(socket, isKnown ? hello.received : 0);
  }

  #open({ apiKey, isResumable }: Hello, { broker, isNode }: Admitted): Session {
    const { resumeMs, clock, defer } = this.#options;
    const session = new Session({
      broker,
      isNode,
      apiKey,
      isResumable,
      resumeMs,
      clock,
      defer,
      onOver: ({ id }) => this.#sessions.delete(id),
    });
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Cuts all connections. Leases stay: workers may end their jobs when the server is back. */
  close(): void {
    this.#isClosed = true;
    for (const socket of [...this.#greeting]) socket.close(1001, CLOSING);
    for (const session of [...this.#sessions.values()]) session.suspend();
  }
}

const CLOSING = "the server is closing";

const NOT_ALONE = new SluiceError("INVALID", "the greeting must be alone in its message", {
  field: "frame",
});

/** Undefined: other frames follow, which nothing would answer. */
function helloOf(message: Uint8Array): Hello | undefined {
  const reader = new FrameReader(message);
  reader.next();
  const hello = readHello(reader);
  return reader.next() ? undefined : hello;
}

function refuseGreeting(socket: ServerSocket, error: SluiceError, code = 1008): void {
  const writer = new FrameWriter();
  writer.begin(KIND.error, 0);
  writeError(writer, error.toJSON());
  writer.end();
  socket.onmessage = () => {};
  socket.send(writer.take());
  socket.close(code, error.message.slice(0, 100));
}
