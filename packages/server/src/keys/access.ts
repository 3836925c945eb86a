import type { Broker } from "@sluice/protocol";
import type { Permit } from "./permit.ts";

/** A broker, and what the caller may do with it. */
export interface Access {
  readonly broker: Broker;
  readonly permit: Permit;
}
