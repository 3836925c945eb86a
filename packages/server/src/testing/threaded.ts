import type { Opened } from "@sluice/protocol/conformance";
import { serve } from "../serve.ts";
import { openServed } from "./conforming.ts";

/** A server whose connections another thread holds, and a client on a real socket. */
export function openThreaded(): Promise<Opened> {
  return openServed(async (broker) => {
    const server = await serve({ broker, log: "silent", threads: 2 });
    return { url: server.address, close: () => server.close() };
  });
}
