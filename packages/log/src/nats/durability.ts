import type { StreamInfo } from "@nats-io/jetstream";
import type { ServerInfo } from "@nats-io/transport-node";

/** The first servers that know `sync_interval: always`. */
const SYNC_ALWAYS = [2, 10] as const;

/**
 * What a confirmed batch survives in this stream, in sentences for whoever starts a server. A
 * client cannot see how often the servers sync, so it is said what follows from it.
 */
export function describeDurability(
  server: Pick<ServerInfo, "version">,
  stream: Pick<StreamInfo, "config">,
): string {
  const { num_replicas: replicas } = stream.config;
  const lost = Math.floor((replicas - 1) / 2);
  const kept =
    replicas === 1
      ? "A confirmed batch is on 1 server: it survives a crash of the process, not the loss of the disk."
      : `A confirmed batch is on ${replicas - lost} of ${replicas} servers: it survives a crash of all` +
        ` processes, and the loss of ${lost === 1 ? "1 machine with its disk" : `${lost} machines with their disks`}.`;
  const many = replicas === 1 ? "of the machine" : `of ${lost + 1} machines at once`;
  const sync = knowsSyncAlways(server.version)
    ? `A power loss ${many} is survived only with "sync_interval: always" in the configuration of the servers;` +
      " without it JetStream confirms before it syncs, every 2 minutes by default."
    : `A power loss ${many} may lose up to 2 minutes: nats-server ${server.version} confirms before it syncs;` +
      ' one from 2.10 on can be told "sync_interval: always".';
  return `${kept} ${sync}`;
}

function knowsSyncAlways(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return major > SYNC_ALWAYS[0] || (major === SYNC_ALWAYS[0] && minor >= SYNC_ALWAYS[1]);
}
