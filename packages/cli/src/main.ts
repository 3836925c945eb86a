import { SluiceError } from "@sluice/protocol";
import { run } from "./run.ts";

const EXIT_UNEXPECTED = 70;

try {
  process.exitCode = await run(process.argv.slice(2), {
    out: (text) => console.log(text),
    progress: process.stderr,
  });
} catch (error) {
  if (error instanceof SluiceError) {
    console.error(`${error.code}: ${error.message}`);
    process.exitCode = 1;
  } else {
    console.error(error);
    process.exitCode = EXIT_UNEXPECTED;
  }
}
