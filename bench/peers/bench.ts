// Sluice and its peers on the same work in the same run.

import type { Bench } from "../figure.ts";
import { statePath } from "./compete.ts";
import { StateFile } from "./state.ts";
import { backlogGroup } from "./workloads/backlog.ts";
import { embeddedGroups } from "./workloads/embedded.ts";
import { floodGroup } from "./workloads/flood.ts";
import { inProcessGroup } from "./workloads/in-process.ts";
import { limitGroup } from "./workloads/limit.ts";
import { singlesGroups } from "./workloads/singles.ts";
import { throughputGroups } from "./workloads/throughput.ts";
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
    ...embeddedGroups,
  ],
  finish: (end) => {
    if (!end.writesDocs) return;
    writePage(end);
    // The page has all figures, so the next run starts from the beginning.
    if (end.scale.name === "full" && end.isWhole) StateFile.forget(statePath());
  },
};
