import { join } from "node:path";
import { freePort } from "@sluice/server/testing/loopback";
import { newestOf, unpack } from "../debian.ts";
import { ownDir, PeerServer, runAsNobody } from "../server.ts";
import type { Mode, Running } from "../system.ts";

const SYNCHRONOUS: Readonly<Record<Mode, string>> = { sync: "on", relaxed: "off" };
const USER = "bench";

export async function startPostgres(dir: string, mode: Mode): Promise<Running> {
  const own = await newestOf("postgresql-");
  const { root, version, env } = await unpack([own, "libpq5"]);
  const bin = join(root, "usr/lib/postgresql", own.replace("postgresql-", ""), "bin");
  const data = join(ownDir(dir), "data");
  const initial = ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  runAsNobody(join(bin, "initdb"), initial, env);
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: dir,
    // Several processes of one peer have a pool each.
    max_connections: 300,
    fsync: "on",
    synchronous_commit: SYNCHRONOUS[mode],
    shared_buffers: "512MB",
    work_mem: "16MB",
    // A checkpoint in the middle of a neighbour's turn would be in the neighbour's figures.
    max_wal_size: "8GB",
    checkpoint_timeout: "30min",
    wal_compression: "on",
    random_page_cost: "1.1",
    timezone: "GMT",
    log_timezone: "GMT",
  };
  const server = await PeerServer.start({
    program: join(bin, "postgres"),
    args: [
      ...["-D", data],
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    dir,
    env,
    ready: /database system is ready to accept connections/,
    // It takes its shared memory with it; a kill would leave that behind.
    stopSignal: "SIGQUIT",
  });
  const address = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  return { server, address, version: `PostgreSQL ${version}` };
}
