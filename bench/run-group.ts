// The program of a child: measures one group and sends the figures to its parent.
//
//   node --expose-gc bench/run-group.ts engine permits usual

import { BENCHES } from "./benches.ts";
import { type Progress, type Report, SCALES, type Scale } from "./figure.ts";

const [benchName, groupName, size] = process.argv.slice(2);
const bench = BENCHES.find(({ name }) => name === benchName);
const group = bench?.groups.find(({ name }) => name === groupName);
if (group === undefined) throw new Error(`there is no group ${groupName} of ${benchName}`);

// If the parent is gone, no process reads the figures, so this one exits.
const leave = (): never => process.exit(1);
process.on("disconnect", leave);

const report: Report = (figure) => void process.send!({ figure });
const progress: Progress = (share, what) => void process.send!({ progress: { share, what } });
for (const figure of [await group.run(SCALES[size as Scale["name"]], report, progress)].flat()) {
  if (figure !== undefined) report(figure);
}

process.off("disconnect", leave);
process.disconnect();
