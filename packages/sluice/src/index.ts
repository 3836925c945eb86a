export * from "./names.ts";
export type { Durability, OpenOptions } from "./open.ts";
export { type ServerOptions, Sluice } from "./sluice.ts";
