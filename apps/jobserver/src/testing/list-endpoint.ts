// An endpoint that answers with a list, until the test sets another answer.

import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface ListEndpoint {
  readonly url: string;
  answer: RequestListener;
}

export async function listEndpoint(t: TestContext, workers: unknown): Promise<ListEndpoint> {
  const server = createServer((request, response) => endpoint.answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint: ListEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`,
    answer: (_request, response) => void response.end(JSON.stringify({ workers })),
  };
  return endpoint;
}
