/** The library without a broker of its own: for browsers, and for programs that only connect. */
export { SluiceHandles as Sluice } from "@sluice/client";
export * from "./names.ts";
