import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Broker } from "@sluice/protocol";
import { type StreamOptions, type StreamServer, serveStream } from "../stream/serve-stream.ts";

export interface Served {
  readonly http: Server;
  readonly stream: StreamServer;
  readonly url: string;
  readonly port: number;
  /** Cuts everything off, as the end of the process would. */
  close(): Promise<void>;
}

/** A broker on a real HTTP server of the loopback address. */
export async function serve(
  broker: Broker,
  options: Partial<StreamOptions> = {},
  port = 0,
): Promise<Served> {
  const http = createServer((_, response) => response.writeHead(404).end());
  const stream = serveStream(http, { open: async () => broker, ...options });
  http.listen(port, "127.0.0.1");
  await once(http, "listening");
  const address = http.address() as AddressInfo;
  return {
    http,
    stream,
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    async close() {
      stream.close();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}
