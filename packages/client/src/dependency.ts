import type { DependencyInfo } from "@sluice/protocol";

/** A job that another one waited for, with its result as a value. */
export interface Dependency<Result = unknown> extends Omit<DependencyInfo, "result"> {
  result?: Result;
}
