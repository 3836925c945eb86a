// Erlang is started as its own script would start it; the script knows only where Debian installs.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@sluice/server/testing/loopback";
import { unpack } from "../debian.ts";
import { ownDir, PeerServer } from "../server.ts";
import type { Running } from "../system.ts";

const ERLANG = [
  ...["base", "asn1", "crypto", "eldap", "inets", "mnesia", "os-mon", "parsetools", "public-key"],
  ...["runtime-tools", "ssl", "syntax-tools", "tools", "xmerl"],
];
const PACKAGES = ["rabbitmq-server", ...ERLANG.map((part) => `erlang-${part}`)];
const CONFIG = "disk_free_limit.absolute = 50MB\nlog.console.level = info\nheartbeat = 0\n";

export async function startRabbit(dir: string): Promise<Running> {
  const { root, version, env } = await unpack(PACKAGES);
  const erlang = join(root, "usr/lib/erlang");
  const bin = join(erlang, only(erlang, "erts-"), "bin");
  const servers = join(root, "usr/lib/rabbitmq/lib");
  const home = join(servers, only(servers, "rabbitmq_server-"));
  const port = await freePort();
  const nodes = await freePort();
  const names = await freePort();
  writeFileSync(join(ownDir(dir), "rabbitmq.conf"), CONFIG);
  writeFileSync(join(dir, "enabled_plugins"), "[].\n");
  const all = {
    ...env,
    ROOTDIR: erlang,
    BINDIR: bin,
    EMU: "beam",
    PROGNAME: "erl",
    PATH: `${bin}:${process.env.PATH}`,
    ERL_LIBS: join(home, "plugins"),
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_HOME: home,
    RABBITMQ_NODENAME: `bench${port}@localhost`,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    // Unless told it is the other port and 20,000, which need not be a port at all.
    RABBITMQ_DIST_PORT: String(nodes),
    RABBITMQ_MNESIA_BASE: join(dir, "mnesia"),
    RABBITMQ_LOG_BASE: join(dir, "log"),
    RABBITMQ_LOGS: "-",
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, "enabled_plugins"),
    RABBITMQ_PLUGINS_DIR: join(home, "plugins"),
    RABBITMQ_CONF_ENV_FILE: join(dir, "no-env.conf"),
    RABBITMQ_CONFIG_FILE: join(dir, "rabbitmq"),
    RABBITMQ_PID_FILE: join(dir, "pid"),
  };
  // Erlang's register of names would go on in the background; as a server of ours it ends with us.
  const epmd = await PeerServer.start({
    program: join(bin, "epmd"),
    args: ["-port", String(names), "-address", "127.0.0.1"],
    dir,
    env: all,
    ready: names,
  });
  try {
    const args = erlangArgs(nodes);
    const program = join(bin, "erlexec");
    const server = await PeerServer.start({
      program,
      args,
      dir,
      env: all,
      ready: /startup complete/,
    });
    const address = `amqp://guest:guest@127.0.0.1:${port}`;
    return { server, others: [epmd], address, version: `RabbitMQ ${version}` };
  } catch (error) {
    await epmd[Symbol.asyncDispose]();
    throw error;
  }
}

// Those of its own script, and no busy waiting: all servers share the machine.
function erlangArgs(nodes: number): string[] {
  return [
    ...["-noinput", "-s", "rabbit", "boot", "-boot", "start_sasl"],
    ...["+W", "w", "-start_epmd", "false"],
    ...["-kernel", "inet_dist_listen_min", String(nodes), "inet_dist_listen_max", String(nodes)],
    ...["-kernel", "inet_dist_use_interface", "{127,0,0,1}"],
    ...["-kernel", "prevent_overlapping_partitions", "false"],
    ...["-syslog", "logger", "[]", "-syslog", "syslog_error_logger", "false"],
    ...["+P", "1048576", "+t", "5000000", "+stbt", "db", "+zdbbl", "128000"],
    ...["+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"],
    ...["+MBas", "ageffcbf", "+MHas", "ageffcbf", "+MBlmbcs", "512", "+MHlmbcs", "512"],
    ...["+MMmcs", "30"],
  ];
}

function only(dir: string, prefix: string): string {
  const found = readdirSync(dir).find((name) => name.startsWith(prefix));
  if (found === undefined) throw new Error(`there is no ${prefix}* in ${dir}`);
  return found;
}
