// The program of a child: measures one group and sends the figures to its parent.
//
//   node --expose-gc bench/run-group.ts engine permits full

import { BENCHES } from "./benches.ts";
import { FULL, QUICK } from "./figure.ts";

const [benchName, groupName, size] = process.argv.slice(2);
const bench = BENCHES.find(({ name }) => name === benchName);
const group = bench?.groups.find(({ name }) => name === groupName);
if (group === undefined) throw new Error(`there is no group ${groupName} of ${benchName}`);

// A parent that is gone wants no figures.
const leave = (): never => process.exit(1);
process.on("disconnect", leave);

await group.run(size === "quick" ? QUICK : FULL, (figure) => process.send!(figure));

process.off("disconnect", leave);
process.disconnect();
