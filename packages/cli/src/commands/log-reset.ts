/** The log of a partition of a cluster, made one that opens. */
import { needs } from "@sluice/protocol";
import { type Call, Misuse, tell, textOf, wholeOf } from "../command.ts";
import { NATS_PACKAGES, natsAccess, natsFiles } from "../nats-address.ts";
import { counted } from "../show.ts";
import { parseStream } from "./log-copy.ts";

export async function resetLog(call: Call, text: string): Promise<number> {
  const address = parseStream(text);
  const [, name, number] = /^(.+)-(\d+)$/.exec(address.stream) ?? [];
  const aside = textOf(call, "aside");
  if (name === undefined) {
    throw new Misuse(`a log of a cluster is called NAME-PARTITION, got ${address.stream}`);
  }
  if (aside === undefined)
    throw new Misuse("--aside DIR is needed: what can be read is kept there");
  const { resetPartition } = await needs(
    "a log on NATS",
    NATS_PACKAGES,
    () => import("@sluice/cluster/nats"),
  );
  const { servers, shown } = address;
  const allowUntested = call.values["allow-untested-nats"] === true;
  const report = await resetPartition({
    nats: { servers, shown, access: natsAccess(address, natsFiles(call)), allowUntested },
    name,
    partition: Number(number),
    aside,
    before: wholeOf(call, "before", 1),
    stop: call.stop,
  });
  return tell(call, report, () => {
    const { damage = "no damage was found", batches, behind } = report;
    return [
      damage,
      `partition ${number} begins again with ${counted(batches, "batch", "batches")}; ` +
        `${counted(behind, "message")} behind them are kept in ${aside}`,
    ].join("\n");
  });
}
