import type { GroupInfo } from "../job.ts";
import * as shapes from "../shapes/index.ts";
import { call } from "./call.ts";
import { batch, GROUP } from "./kinds.ts";

/** Calls about groups, which are asked for by their full names, such as `orders/batch-7`. */
export const GROUP_CALLS = {
  group: call<[group: string], GroupInfo>({
    says: "Lists the members of a group and how they ended.",
    about: "group",
    args: [GROUP],
    may: "either",
    repeat: "read",
    ids: "members",
    answer: shapes.GROUP_INFO,
    http: "GET /v1/groups/:queue/:group",
  }),
  groupEnded: call<[group: string], GroupInfo>({
    says: "Answers when a group has ended; at once when it has and is still known.",
    about: "group",
    args: [GROUP],
    may: "either",
    repeat: "read",
    ids: "members",
    waits: true,
    answer: shapes.GROUP_INFO,
    http: { route: "GET /v1/groups/:queue/:group/end", isOwn: true },
  }),
  releaseGroups: call<[groups: readonly string[]], void>({
    says: "Closes groups that an add has held: each ends when its members have.",
    about: "group",
    args: [batch("groups", shapes.TEXT)],
    may: "produce",
    repeat: "again",
    http: "POST /v1/groups/:queue/:group/release",
  }),
};
