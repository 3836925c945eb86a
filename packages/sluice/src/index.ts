export type { Durability, OpenOptions } from "@sluice/protocol";
export * from "./names.ts";
export { type ServerOptions, Sluice } from "./sluice.ts";
