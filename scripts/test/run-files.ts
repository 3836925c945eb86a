// Runs test files with Node's own runner, in the order in which they are given: its command line
// sorts them by name, and a long file that begins last leaves the other cores idle.
//
//   node run-files.ts <concurrency> <argument for each file's process>... -- <file>...

import { run } from "node:test";
import report from "./reporter.ts";

const [concurrency, ...rest] = process.argv.slice(2);
const cut = rest.indexOf("--");

run({
  concurrency: Number(concurrency),
  execArgv: rest.slice(0, cut),
  files: rest.slice(cut + 1),
})
  .on("test:fail", () => {
    process.exitCode = 1;
  })
  .compose(report)
  .pipe(process.stdout);
