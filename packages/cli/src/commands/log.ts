import { checkLog, type Damage, type LogReport, type RepairReport, repairLog } from "@sluice/log";
import { type Call, type Command, EXIT, Misuse, type Output, wordsOf } from "../command.ts";

const WIDTH = 24;

const VERBS = ["check", "repair"];

export const logCommand: Command = {
  name: "log",
  summary: "the files of a log that nobody has open: check, repair",
  verbs: VERBS,
  usage: `sluice log check DIR     reads it and tells what is wrong with it
sluice log repair DIR    makes a damaged log one that opens; the originals are kept beside it
`,
  options: {},
  run: (call) => {
    const [verb, ...rest] = call.words;
    if (verb !== "check" && verb !== "repair") throw new Misuse("check or repair is needed");
    const [dir] = wordsOf(rest, "DIR");
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

/** Runs something long with a bar on a terminal, and leaves the line as it was. */
async function withBar<T>(
  { progress }: Output,
  verb: string,
  act: (onProgress: (doneBytes: number, totalBytes: number) => void) => Promise<T>,
): Promise<T> {
  let shown = -1;
  const show = (doneBytes: number, totalBytes: number): void => {
    const percent = totalBytes === 0 ? 100 : Math.floor((100 * doneBytes) / totalBytes);
    if (progress.isTTY !== true || percent === shown) return;
    shown = percent;
    const filled = Math.floor((percent * WIDTH) / 100);
    progress.write(`\r${verb} ${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${percent} %`);
  };
  try {
    return await act(show);
  } finally {
    if (shown !== -1) progress.write("\r\x1b[2K");
  }
}

function describe(dir: string, report: LogReport): string {
  const { segments, batches, factsBytes, tornBytes, damages } = report;
  const lines = [
    `${dir}: ${segments.length} segments, ${batches} batches, ${factsBytes} bytes of facts`,
  ];
  if (tornBytes > 0) {
    lines.push(`${tornBytes} bytes at the end were never confirmed; the next start cuts them off`);
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
  return [
    ...found.damages.map(describeDamage),
    `repaired: ${found.batches} batches are kept, ${lostBytes} bytes are lost`,
    `the files as they were: ${aside}`,
  ].join("\n");
}
