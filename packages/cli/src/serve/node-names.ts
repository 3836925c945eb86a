/** How a node is called, by the others and by clients. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { SluiceError } from "@sluice/protocol";
import type { RunningServer } from "@sluice/server";
import { CLUSTER_NAME_CHARS_MAX, NODE_NAME_CHARS_MAX } from "../limits.ts";
import { PORT } from "./server.ts";
import type { ServeSettings } from "./settings.ts";

const CLUSTER = "sluice";
const RANDOM_BYTES = 4;

/** The name of the bucket, and what the names of the streams begin with. */
export function clusterNameOf({ "cluster-name": name = CLUSTER }: ServeSettings): string {
  // No underscore: `KV_` before a name is the stream of a bucket.
  if (/^[A-Za-z0-9-]+$/.test(name) && name.length <= CLUSTER_NAME_CHARS_MAX) return name;
  const message = `cluster-name must be a name of letters, digits and dashes, got ${name}`;
  throw new SluiceError("INVALID", message, { field: "cluster-name", value: name });
}

/** Of two nodes with one name only one lives: on any port that is free, chance tells them apart. */
export function nodeNameOf({ node, port = PORT }: ServeSettings): string {
  const own = port === 0 ? randomBytes(RANDOM_BYTES).toString("hex") : port;
  const name = node ?? `${hostname()}-${own}`.replace(/[^\w.-]/g, "-");
  if (/^[\w-]+(\.[\w-]+)*$/.test(name) && name.length <= NODE_NAME_CHARS_MAX) return name;
  const message = `node must be a name of letters, digits, dots and dashes, got ${name}`;
  throw new SluiceError("INVALID", message, { field: "node", value: name });
}

/** Where others reach this node: clients, and the other nodes. */
export function addressOf({ advertise, host }: ServeSettings, running: RunningServer): string {
  if (advertise !== undefined) return advertise.replace(/\/$/, "");
  if (host !== "0.0.0.0" && host !== "::") return running.address;
  const message = `${host} is no address that others can call: say --advertise http://NAME:PORT`;
  throw new SluiceError("INVALID", message, { field: "advertise" });
}

/** The other nodes call this one by the name that it advertises. */
export function hostsOf(settings: ServeSettings): readonly string[] | undefined {
  const { advertise, "allow-host": hosts } = settings;
  if (advertise === undefined) return hosts;
  if (!/^https?:$/.test(URL.parse(advertise)?.protocol ?? "")) {
    const message = `advertise must be an address such as http://a.example:7070, got ${advertise}`;
    throw new SluiceError("INVALID", message, { field: "advertise", value: advertise });
  }
  const hasKeys = settings.keys === true || settings["root-key"] !== undefined;
  // With keys any name will do, unless some are listed.
  if (hasKeys && hosts === undefined) return undefined;
  return [...(hosts ?? []), new URL(advertise).hostname];
}
