import { checkLog, type Damage, type LogReport, type RepairReport, repairLog } from "@sluice/log";
import { withBar } from "../bar.ts";
import { type Call, type Command, EXIT, Misuse, wordsOf } from "../command.ts";
import { NATS_OPTIONS, NATS_USAGE } from "../nats-address.ts";
import { counted } from "../show.ts";
import { checkStream, copyLog, exportLog, isStream } from "./log-copy.ts";
import { resetLog } from "./log-reset.ts";

const VERBS = ["check", "repair", "copy", "export", "reset"];

export const logCommand: Command = {
  name: "log",
  verbs: VERBS,
  usage: `sluice log check DIR     checks a directory for damage, or a stream of NATS, whose
                         owner is not disturbed
sluice log export STREAM DIR  copies what a stream holds now to a new directory, online
sluice log repair DIR    makes a damaged log open again; the originals are kept beside it
sluice log reset STREAM  makes a damaged partition of a cluster one that opens, with what was written
                         before the damage; all that can be read is kept
  --aside DIR            where that is kept: a new directory
  --before SEQUENCE      leaves out what is from this sequence on, damaged or not
sluice log copy FROM TO  copies all that is kept to a log that holds nothing yet; each is a
                         directory or nats://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...]/STREAM.
                         A broker that has the stream open is shut out.
  --partitions N         divides it over the partitions of a new cluster: TO is a new directory, of
                         which \`sluice cluster restore TO\` makes the cluster
  --replicas N           copies of the new stream: 3 in a cluster of NATS servers, else 1
${NATS_USAGE}`,
  options: {
    partitions: { type: "string" },
    replicas: { type: "string" },
    aside: { type: "string" },
    before: { type: "string" },
    "allow-untested-nats": { type: "boolean" },
    ...NATS_OPTIONS,
  },
  run: (call) => {
    const [verb, ...rest] = call.words;
    if (verb === "copy") return copyLog(call, ...wordsOf(rest, "FROM", "TO"));
    if (verb === "export") return exportLog(call, ...wordsOf(rest, "STREAM", "DIR"));
    if (verb === "reset") return resetLog(call, ...wordsOf(rest, "STREAM"));
    if (verb !== "check" && verb !== "repair") {
      throw new Misuse(`one of ${VERBS.join(", ")} is needed`);
    }
    const [dir] = wordsOf(rest, "DIR");
    if (verb === "check" && isStream(dir)) return checkStream(call, dir);
    return verb === "check" ? check(call, dir) : repair(call, dir);
  },
};

async function check({ isJson, output }: Call, dir: string): Promise<number> {
  const report = await withBar(output, "checking", (onProgress) => checkLog(dir, { onProgress }));
  output.out(isJson ? JSON.stringify(report) : describe(dir, report));
  return report.damages.length === 0 ? EXIT.well : EXIT.wrong;
}

async function repair({ isJson, output }: Call, dir: string): Promise<number> {
  const report = await withBar(output, "reading", (onProgress) => repairLog(dir, { onProgress }));
  output.out(isJson ? JSON.stringify(report) : describeRepair(dir, report));
  return EXIT.well;
}

function describe(dir: string, report: LogReport): string {
  const { segments, batches, factsBytes, tornBytes, damages } = report;
  const lines = [
    `${dir}: ${counted(segments.length, "segment")}, ${counted(batches, "batch", "batches")}, ` +
      `${counted(factsBytes, "byte")} of facts`,
  ];
  if (tornBytes > 0) {
    lines.push(
      `${tornBytes} bytes at the end cannot be shown to have been confirmed; the next start cuts ` +
        "them off and keeps them in a file torn-ADDRESS.NUMBER",
    );
  }
  lines.push(...damages.map(describeDamage));
  lines.push(damages.length === 0 ? "no damage" : `${damages.length} damages: sluice log repair`);
  return lines.join("\n");
}

function describeDamage({ file, offset, lengthBytes, what }: Damage): string {
  return `damage: ${file} at ${offset}, ${lengthBytes} bytes: ${what}`;
}

function describeRepair(dir: string, { found, lost, aside }: RepairReport): string {
  if (aside === undefined) return `${describe(dir, found)}\nnothing was done`;
  const lostBytes = lost.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  const torn = `${found.tornBytes} bytes at the end cannot be shown to have been confirmed: left out`;
  return [
    ...found.damages.map(describeDamage),
    ...(found.tornBytes === 0 ? [] : [torn]),
    `repaired: ${found.batches} batches are kept, ${lostBytes} bytes are lost`,
    `the files as they were: ${aside}`,
  ].join("\n");
}
