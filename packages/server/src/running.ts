import type { AddressInfo } from "node:net";
import { type Duration, parseDuration, SluiceError } from "@sluice/protocol";
import { CLOSE_TIMEOUT_MS } from "./limits.ts";
import type { ShellOptions } from "./shell/options.ts";
import type { Shell } from "./shell/shell.ts";

/** A server that listens. */
export interface Running {
  /** Such as `http://127.0.0.1:7070`. */
  readonly address: string;
  readonly port: number;
  /** What is under way may end within `timeout`, then it is cut off. */
  close(options?: { timeout?: Duration }): Promise<void>;
}

/** Adds what the server is to have, and listens; nothing is left open when that fails. */
export async function listen(
  shell: Shell,
  options: ShellOptions,
  registerRoutes: () => Promise<void>,
): Promise<Running> {
  const { app } = shell;
  const { host = "127.0.0.1", port: wanted = 0 } = options;
  try {
    await registerRoutes();
    await app.listen({ host, port: wanted });
  } catch (error) {
    await app.close();
    throw refusalOf(error as NodeJS.ErrnoException, host, wanted);
  }
  const { address, port, family } = app.server.address() as AddressInfo;
  const name = family === "IPv6" ? `[${address}]` : address;
  return {
    address: `${options.tls === undefined ? "http" : "https"}://${name}:${port}`,
    port,
    close: async ({ timeout = CLOSE_TIMEOUT_MS } = {}) =>
      closeWithin(shell, parseDuration("close.timeout", timeout)),
  };
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
