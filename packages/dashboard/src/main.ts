/** Builds the page: what is published carries it. */
import { loadPage } from "./load-page.ts";

const files = await loadPage();
const bytes = [...files.values()].reduce((sum, { gzip }) => sum + gzip.length, 0);
console.log(`the page has ${files.size} files, ${bytes} bytes compressed`);
