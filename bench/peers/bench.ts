// Sluice and its peers on the same work in the same run.

import type { Bench } from "../figure.ts";
import { statePath } from "./compete.ts";
import { StateFile } from "./state.ts";
import { backlogGroup } from "./work/backlog.ts";
import { embeddedGroup } from "./work/embedded.ts";
import { floodGroup } from "./work/flood.ts";
import { inProcessGroup } from "./work/in-process.ts";
import { limitGroup } from "./work/limit.ts";
import { singlesGroups } from "./work/singles.ts";
import { throughputGroups } from "./work/throughput.ts";
import { writePage } from "./write-page.ts";

export const peersBench: Bench = {
  name: "peers",
  isOnlyNamed: true,
  groups: [
    ...throughputGroups,
    ...singlesGroups,
    floodGroup,
    limitGroup,
    backlogGroup,
    inProcessGroup,
    embeddedGroup,
  ],
  finish: (end) => {
    if (end.writesDocs) writePage(end);
    // Everything is measured: the next one begins anew.
    if (end.scale.name === "full" && end.isWhole) StateFile.forget(statePath());
  },
};
