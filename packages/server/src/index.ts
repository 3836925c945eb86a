export type * from "./app-page.ts";
