import type { AddressInfo } from "node:net";
import { type Duration, parseDuration, SluiceError } from "@sluice/protocol";
import { CLOSE_TIMEOUT_MS } from "./limits.ts";
import type { ShellOptions } from "./shell/options.ts";
import type { Shell } from "./shell/shell.ts";
import type { Listening } from "./threads/io-thread.ts";
import { listenWithThreads } from "./threads/listen.ts";

/** A server that listens. */
export interface Running {
  /** Resolves when a thread that holds its connections has failed. */
  readonly failed: Promise<SluiceError>;
  /** Why it does not serve all of its connections, in words. */
  trouble(): string | undefined;
  /** Such as `http://127.0.0.1:7070`. */
  readonly address: string;
  readonly port: number;
  /** What is under way may end within `timeout`, then it is cut off. */
  close(options?: { timeout?: Duration }): Promise<void>;
}

/**
 * Adds what the server is to have, and listens; nothing is left open when that fails. With more
 * than one thread the others hold its connections.
 */
export async function listen(
  shell: Shell,
  options: ShellOptions,
  registerRoutes: () => Promise<void>,
  threads = 1,
): Promise<Running> {
  const { host = "127.0.0.1", port = 0 } = options;
  try {
    await registerRoutes();
    const isAlone = threads === 1;
    return await (isAlone ? listenAlone(shell, options) : listenThreaded(shell, options, threads));
  } catch (error) {
    await shell.app.close();
    throw refusalOf(error as NodeJS.ErrnoException, host, port);
  }
}

async function listenAlone(shell: Shell, options: ShellOptions): Promise<Running> {
  const { app } = shell;
  const { host = "127.0.0.1", port = 0 } = options;
  await app.listen({ host, port });
  const at = app.server.address() as AddressInfo;
  return {
    failed: new Promise(() => {}),
    trouble: () => undefined,
    address: addressOf(at, options),
    port: at.port,
    close: async ({ timeout = CLOSE_TIMEOUT_MS } = {}) =>
      closeWithin(shell, parseDuration("close.timeout", timeout)),
  };
}

async function listenThreaded(
  shell: Shell,
  options: ShellOptions,
  count: number,
): Promise<Running> {
  const { at, threads, close } = await listenWithThreads(shell, options, count - 1);
  return {
    failed: threads.failed,
    trouble: () => threads.trouble(shell.clock.now()),
    address: addressOf(at, options),
    port: at.port,
    close: async ({ timeout } = {}) => close(timeout),
  };
}

function addressOf({ address, port }: Listening, { tls }: ShellOptions): string {
  const name = address.includes(":") ? `[${address}]` : address;
  return `${tls === undefined ? "http" : "https"}://${name}:${port}`;
}

/** What the operator chose and the machine does not grant, in words; the rest as it is. */
function refusalOf(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use: choose another, or 0 for any that is free`,
    EACCES: `port ${port} of ${host} is not for this user`,
    EADDRNOTAVAIL: `${host} is no address of this machine`,
    ENOTFOUND: `the host name ${host} cannot be resolved`,
  };
  const message = messages[error.code ?? ""];
  if (message === undefined) return error;
  return new SluiceError("CONFLICT", message, { field: "port", value: port });
}

async function closeWithin({ app }: Shell, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
