/** Where the NATS servers of a cluster are, by the settings that name them. */
import type { NatsServers } from "@sluice/cluster/nats";
import { type ServerSettings, SluiceError } from "@sluice/protocol";
import { natsAccess, parseNatsAddress, withoutLogin } from "../nats-address.ts";

export function clusterNats(settings: ServerSettings): NatsServers {
  const { cluster = "", allowUntestedNats: allowUntested } = settings;
  const address = parseNatsAddress(cluster);
  if (address === undefined || address.stream !== undefined) {
    const got = JSON.stringify(withoutLogin(cluster));
    const message = `cluster must be addresses of NATS such as nats://a,b,c, got ${got}`;
    throw new SluiceError("INVALID", message, { field: "cluster" });
  }
  const { servers, shown } = address;
  return { servers, shown, access: natsAccess(address, settings), allowUntested };
}
