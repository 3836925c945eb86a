/** Whether a cluster is in PostgreSQL, by the setting that names its place. */
import { type ServerSettings, SluiceError } from "@sluice/protocol";
import { withoutLogin } from "../nats-address.ts";

const NATS_ONLY = ["natsCa", "natsCert", "natsCreds", "natsKey", "allowUntestedNats"] as const;

/** The address of the database; undefined when the cluster is elsewhere. */
export function clusterDatabase(settings: ServerSettings): string | undefined {
  const { cluster = "" } = settings;
  if (!/^postgres(ql)?:/.test(cluster)) return undefined;
  if (!URL.canParse(cluster)) {
    const wanted = "an address like postgres://user@host:5432/database";
    const message = `cluster must be ${wanted}, got ${withoutLogin(cluster)}`;
    throw new SluiceError("INVALID", message, { field: "cluster" });
  }
  const given = settings as unknown as Record<string, unknown>;
  const strange = NATS_ONLY.find((name) => given[name] !== undefined && given[name] !== false);
  if (strange === undefined) return cluster;
  const message = `${strange} is for a cluster on NATS, and this one is in PostgreSQL`;
  throw new SluiceError("INVALID", message, { field: strange });
}
