// The suites of a test run, in the order in which they run: what is quick to fail comes first.

export interface Suite {
  readonly name: string;
  // A suite that runs longer than this, and than what those before it have left, is killed and
  // counts as a failure.
  readonly budgetMs: number;
  readonly source: FileSource | CommandSource;
  // Folders whose files share a process: those whose tests leave nothing behind in it.
  readonly together?: readonly string[];
  // Files that run side by side; default one for each core.
  readonly concurrency?: number;
  // Whether files that failed are run once more, one by one: see repeat.ts.
  readonly isRepeated?: boolean;
}

// Test files for Node's own runner, chosen by the ending of their name and by their folder.
interface FileSource {
  readonly kind: "files";
  readonly ending: string;
  readonly folder?: string;
}

// One program that checks the whole tree and counts as one test.
export interface CommandSource {
  readonly kind: "command";
  // The script to run with Node, relative to the root of the repository.
  readonly script: string;
  readonly args: readonly string[];
}

// What the whole may take on two quiet cores. Each run prints how long it took beside it, and how
// much other programs used of the machine. It is not a failure to take longer: the same machine was
// seen to need twice the time on another day (types 4.1 and 8.9 s), with nothing else running.
export const QUIET_MS = 480_000;
export const E2E_QUIET_MS = 1_200_000;

// A suite is killed when it takes so many times as long as on two quiet cores: by then it hangs. On
// a busy day suites without a fault took a little over twice as long.
export const PATIENCE = 3;

export const TIDY_FOLDER = "tests/tidy/";

// Endings that name a kind of test. A plain `.test.ts` is a unit test.
export const SPECIAL_ENDINGS = [
  ".prop.test.ts",
  ".sim.test.ts",
  ".fuzz.test.ts",
  ".crash.test.ts",
  ".e2e.test.ts",
] as const;

// By what it may take on two quiet cores.
const within = (quietMs: number): number => quietMs * PATIENCE;

const files = (ending: string): FileSource => ({ kind: "files", ending });

const command = (script: string, ...args: string[]): CommandSource => ({
  kind: "command",
  script,
  args,
});

export const SUITES: readonly Suite[] = [
  // The native compiler checks the tree in about a second; the rest is room for a cold disk.
  {
    name: "types",
    budgetMs: within(7_000),
    source: command("scripts/types.ts"),
  },
  // One pass over the sources by a native program.
  {
    name: "lint",
    budgetMs: within(5_000),
    source: command("node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off", "."),
  },
  // Parses every source once and runs knip twice: on the tree, and on one made to fail. That is 7 s
  // of work, and up to 40 on a machine that is busy with other things.
  {
    name: "tidy",
    budgetMs: within(10_000),
    source: { kind: "files", ending: ".test.ts", folder: TIDY_FOLDER },
  },
  // Unit tests never sleep; counting coverage makes those of the engine several times slower, and
  // the suite of the port runs nine times. Servers are real processes.
  // They wait for sockets and disks for a third of their time, so four files keep two cores busy.
  {
    name: "unit",
    budgetMs: within(240_000),
    source: files(".test.ts"),
    concurrency: 4,
    together: [
      ...["broker", "engine", "sluice", "client", "log", "protocol", "dashboard", "sim"].map(
        (name) => `packages/${name}`,
      ),
      "apps/retracker",
      "bench",
    ],
  },
  // Each property is worth a few seconds, on prefixes of runs with up to 200,000 lanes.
  { name: "property", budgetMs: within(34_000), source: files(".prop.test.ts") },
  // 10,000 random worlds beside 300 simulated hours, 100 s each at most, and the planted bugs.
  { name: "simulation", budgetMs: within(120_000), source: files(".sim.test.ts") },
  // 20,000 inputs for each parser, at well under a millisecond each.
  { name: "fuzzing", budgetMs: within(34_000), source: files(".fuzz.test.ts") },
  // 50 cycles of kill -9, 500 power-loss images, 1,000 damaged logs, brokers on a simulated disk.
  { name: "crash", budgetMs: within(30_000), source: files(".crash.test.ts") },
];

// The time of suites that run one after the other. One that is done early leaves the rest of its
// time to the next: a slow disk takes more of one suite, and all together keep to the whole.
export class Time {
  #leftMs = 0;

  // The suite with what is there for it.
  next(suite: Suite): Suite {
    return { ...suite, budgetMs: suite.budgetMs + this.#leftMs };
  }

  used({ budgetMs }: Suite, elapsedMs: number): void {
    this.#leftMs = Math.max(0, Math.round(budgetMs - elapsedMs));
  }
}

// Apart from the others, because it needs programs that npm does not bring.
export const E2E_SUITES: readonly Suite[] = [
  // Built once, for the tests that install packages and run the executable: their files run side by
  // side, and a build begins by removing the one before.
  { name: "pack", budgetMs: within(60_000), source: command("scripts/pack.ts") },
  {
    name: "executable",
    budgetMs: within(60_000),
    source: command("scripts/build.ts", "--executable"),
  },
  // Starting a browser and installing programs take most of it.
  { name: "e2e", budgetMs: within(1_080_000), source: files(".e2e.test.ts"), isRepeated: true },
];
