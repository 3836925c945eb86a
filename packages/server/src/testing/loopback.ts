/** Servers on loopback, for tests of what calls one. They close when the test ends. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

type Test = Pick<TestContext, "after">;

/** Serves; answers its address, such as `http://127.0.0.1:4321`. */
export async function serveHttp(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: messages are looked into by the tests.
  readonly message: any;
}

/** Takes messages in JSON. */
export interface Receiver {
  readonly host: string;
  readonly url: string;
  /** How many have come. */
  readonly count: number;
  /** What it answers. */
  status: number;
  /** The next one, when it has come. */
  next(): Promise<Received>;
}

export async function receiver(t: Test): Promise<Receiver> {
  const arrived: Received[] = [];
  let wake = (): void => {};
  const address = await serveHttp(t, async (request, response) => {
    const body = await text(request);
    arrived.push({ headers: request.headers, body, message: JSON.parse(body) });
    made.count++;
    response.writeHead(made.status).end();
    wake();
  });
  const made = {
    host: new URL(address).host,
    url: `${address}/hook`,
    status: 200,
    count: 0,
    next: async () => {
      while (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return arrived.shift()!;
    },
  };
  return made;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
