export { loadPage } from "./load-page.ts";
export { type PageFile, pageFile } from "./page-file.ts";
