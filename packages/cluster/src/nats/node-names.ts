/** How a node is called, by the others and by clients. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { SluiceError } from "@sluice/protocol";
import { CLUSTER_NAME_CHARS_MAX, NODE_NAME_CHARS_MAX } from "../limits.ts";

const CLUSTER = "sluice";
const RANDOM_BYTES = 4;

/** The name of the bucket, and what the names of the streams begin with. */
export function clusterNameOf(name: string = CLUSTER): string {
  // No underscore: `KV_` before a name is the stream of a bucket.
  if (/^[A-Za-z0-9-]+$/.test(name) && name.length <= CLUSTER_NAME_CHARS_MAX) return name;
  const message = `cluster-name must be a name of letters, digits and dashes, got ${name}`;
  throw new SluiceError("INVALID", message, { field: "cluster-name", value: name });
}

/** Of two nodes with one name only one lives: on any free port, chance tells them apart. */
export function nodeNameOf(node: string | undefined, port = 0): string {
  const own = port === 0 ? randomBytes(RANDOM_BYTES).toString("hex") : port;
  const name = node ?? `${hostname()}-${own}`.replace(/[^\w.-]/g, "-");
  if (/^[\w-]+(\.[\w-]+)*$/.test(name) && name.length <= NODE_NAME_CHARS_MAX) return name;
  const message = `node must be a name of letters, digits, dots and dashes, got ${name}`;
  throw new SluiceError("INVALID", message, { field: "node", value: name });
}

/** Where clients and the other nodes reach a node that listens at `address`. */
export function advertisedAddress(
  advertise: string | undefined,
  host: string | undefined,
  address: string,
): string {
  if (advertise !== undefined) return advertise.replace(/\/$/, "");
  if (host !== "0.0.0.0" && host !== "::") return address;
  const message = `other nodes cannot connect to ${host}: give --advertise http://NAME:PORT`;
  throw new SluiceError("INVALID", message, { field: "advertise" });
}

/** The names by which a node may be called: the others use the one that it advertises. */
export function allowedHosts(
  advertise: string | undefined,
  hosts: readonly string[] | undefined,
  hasKeys: boolean,
): readonly string[] | undefined {
  if (advertise === undefined) return hosts;
  // With keys any name will do, unless some are listed.
  if (hasKeys && hosts === undefined) return undefined;
  return [...(hosts ?? []), new URL(advertise).hostname];
}

export function checkAdvertised(advertise: string | undefined): void {
  if (advertise === undefined) return;
  if (/^https?:$/.test(URL.parse(advertise)?.protocol ?? "")) return;
  const message = `advertise must be an address such as http://a.example:7070, got ${advertise}`;
  throw new SluiceError("INVALID", message, { field: "advertise", value: advertise });
}
