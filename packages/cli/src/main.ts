import { EXIT } from "./command.ts";
import { whenShellEnds } from "./npm-shell.ts";
import { exitCodeOf, wantsJson, wordsOfError } from "./report.ts";
import { run } from "./run.ts";
import { visible } from "./visible.ts";

/** The first signal lets a command end in order, the second ends it at once. */
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    stop.abort();
  });
}
whenShellEnds(process.env, () => stop.abort());
// The reader of our output may close it early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? EXIT.well : EXIT.unexpected);
});

try {
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    input: process.stdin,
    output: {
      out: (text) => console.log(text),
      raw: (text) => console.log(process.stdout.isTTY ? visible(text) : text),
      progress: process.stderr,
    },
    stop: stop.signal,
  });
} catch (error) {
  process.exitCode = exitCodeOf(error);
  const words = wordsOfError(error, wantsJson(process.argv.slice(2)));
  console.error(words === undefined ? error : visible(words));
}

// A connection that is still being made, to a server that hangs, must not keep the process alive.
await Promise.all([process.stdout, process.stderr].map(written));
process.exit();

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
