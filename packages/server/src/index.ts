export type * from "./app-page.ts";
export * from "./outgoing/index.ts";
