export { loadPage, type PageFile } from "./load-page.ts";
