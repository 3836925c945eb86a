// What a policy costs a job: nothing, templates, a script in Lua.

import type { Bench } from "../figure.ts";
import { costGroups } from "./cost.ts";

export const policyBench: Bench = { name: "policy", groups: costGroups };
