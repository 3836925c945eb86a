import { connect } from "node:net";
import { INFO_CHARS_MAX, NATS_CONNECT_MS } from "../limits.ts";

const PORT = 4222;

/**
 * Whether a server asks for a certificate. If the client has none, it reports only that the server
 * is silent: under TLS 1.3 the server refuses after the handshake. Its first message tells.
 */
export async function asksCertificate(server: string): Promise<boolean> {
  const socket = connect(placeOf(server));
  socket.setTimeout(NATS_CONNECT_MS, () => socket.destroy());
  try {
    let text = "";
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes("\r\n") || text.length > INFO_CHARS_MAX) break;
    }
    return /^INFO .*"tls_verify":\s*true/.test(text);
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Of an address with or without a scheme. */
export function placeOf(server: string): { host: string; port: number } {
  const { hostname, port } = new URL(server.includes("://") ? server : `nats://${server}`);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || PORT) };
}
