import type { AddressInfo } from "node:net";
import { CLOSE_TIMEOUT_MS } from "./limits.ts";
import type { ShellOptions } from "./shell/options.ts";
import type { Shell } from "./shell/shell.ts";

/** A server that listens. */
export interface Running {
  /** Such as `http://127.0.0.1:7070`. */
  readonly address: string;
  readonly port: number;
  /** What is under way may end within `timeoutMs`, then it is cut off. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

/** Adds what the server is to have, and listens; nothing is left open when that fails. */
export async function listen(
  shell: Shell,
  options: ShellOptions,
  furnish: () => Promise<void>,
): Promise<Running> {
  const { app } = shell;
  try {
    await furnish();
    await app.listen({ host: options.host ?? "127.0.0.1", port: options.port ?? 0 });
  } catch (error) {
    await app.close();
    throw error;
  }
  const { address, port, family } = app.server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  return {
    address: `${options.tls === undefined ? "http" : "https"}://${host}:${port}`,
    port,
    close: ({ timeoutMs = CLOSE_TIMEOUT_MS } = {}) => closeWithin(shell, timeoutMs),
  };
}

async function closeWithin({ app }: Shell, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
