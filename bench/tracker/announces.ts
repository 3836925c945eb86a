// Announces a second by one generator, in turns with the peers, so that all see the same machine.

import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, rounded, spreadOf } from "../spread.ts";
import { compileLoad, type LoadResult, type Mode, runLoad } from "./load.ts";
import { TrackerServer } from "./servers.ts";

const SECONDS = 2;
// Four trackers in three ways at three sizes: more rounds would take half an hour.
const RUNS_MAX = 3;
const SECONDS_QUICK = 1;
// The compilers of a tracker on Node are done after so many announces, and a busy machine does not
// serve them in one round. Until then their threads take a fifth of the processor time.
const WARM_ANSWERS = 40_000;
const WARM_ROUNDS_MAX = 6;
const IN_FLIGHT = 64;
const FILL_SECONDS = 120;
// With one hash there are enough peers for full answers; else two for each hash.
const PEERS_OF_ONE = 1000;

// Processor time an announce, as a multiple of opentracker's, which is C without a runtime.
const MODES: readonly { mode: Mode; name: string; ofOpenTracker: number }[] = [
  { mode: "udp", name: "UDP", ofOpenTracker: 2 },
  // Debian's closes each connection after its answer, so this is an easy one.
  { mode: "keep", name: "HTTP with keep-alive", ofOpenTracker: 1 },
  { mode: "each", name: "HTTP, a connection each", ofOpenTracker: 1.3 },
];
const OF_NPM = 1 / 3;
const BYTES_A_PEER = 200;
const PEERS_JUDGED = 1_000_000;
const OURS = "retracker";
const BARE = "bare Node";

const SIZES = [
  { name: "announces-one", hashes: 1 },
  { name: "announces-10k", hashes: 10_000 },
  { name: "announces-1m", hashes: 1_000_000 },
];

export const announceGroups: readonly Group[] = SIZES.map(({ name, hashes }) => ({
  name,
  run: (scale, report) => measure(scale, hashes, report),
}));

interface Measured {
  readonly speeds: number[];
  readonly cpuMicros: number[];
  readonly p99: number[];
  errors: number;
}

async function measure(scale: Scale, full: number, report: (f: Figure) => void): Promise<void> {
  using scratch = new Scratch();
  const program = compileLoad(scratch.dir);
  if (program === undefined) {
    console.error("tracker: skipped, there is no C compiler for the load generator");
    return;
  }
  const hashes = full === 1 ? 1 : scale.size(full);
  const peers = full === 1 ? PEERS_OF_ONE : hashes * 2;
  await using stack = new AsyncDisposableStack();
  const trackers: TrackerServer[] = [];
  for (const tracker of [
    await TrackerServer.retrackerWithoutPace(scratch.fresh()),
    await TrackerServer.openTracker(scratch.fresh(), hashes),
    await TrackerServer.npmTracker(),
    await TrackerServer.bareNode(),
  ]) {
    if (tracker !== undefined) trackers.push(stack.use(tracker));
  }
  for (const tracker of trackers.filter(({ name }) => name !== BARE)) {
    tell(`${hashes} hashes: filling ${tracker.name} with ${peers} peers`);
    const figure = await fill(program, tracker, hashes, peers);
    if (figure !== undefined) report(figure);
  }
  for (const { mode, name, ofOpenTracker } of MODES) {
    tell(`${hashes} hashes: ${name}`);
    const running = trackers.filter((tracker) => isAlive(tracker));
    const all = await measureMode({ scale, program, trackers: running, mode, hashes, peers });
    for (const figure of figuresOf(name, hashes, peers, all, ofOpenTracker)) report(figure);
  }
}

function tell(text: string): void {
  console.error(`tracker: ${text}`);
}

// Others may die of a million hashes, and the rest is measured without them. Ours may not.
function isAlive({ name, isRunning }: TrackerServer): boolean {
  if (isRunning) return true;
  if (name === OURS) throw new Error("the retracker has died");
  tell(`${name} has died`);
  return false;
}

async function fill(
  program: string,
  tracker: TrackerServer,
  hashes: number,
  peers: number,
): Promise<Figure | undefined> {
  const { port } = tracker;
  const empty = tracker.memoryBytes;
  const seconds = FILL_SECONDS;
  const call = { mode: "fill" as const, port, hashes, peers, seconds, inFlight: IN_FLIGHT };
  const { answers } = await runLoad(program, call);
  if (!isAlive(tracker)) return undefined;
  const bytes = (tracker.memoryBytes - empty) / Math.max(1, Math.min(answers, peers));
  return {
    metric: `${tracker.name}, memory per peer, ${hashes} hashes`,
    value: rounded(bytes),
    unit: "B",
    // Fewer peers are less than what the process takes for itself.
    ...(tracker.name === OURS && peers >= PEERS_JUDGED ? { target: { atMost: BYTES_A_PEER } } : {}),
    conditions: { hashes, peers, answers, measured: "growth of the resident set while filling" },
  };
}

interface ModeCall {
  readonly scale: Scale;
  readonly program: string;
  readonly trackers: readonly TrackerServer[];
  readonly mode: Mode;
  readonly hashes: number;
  readonly peers: number;
}

async function measureMode(call: ModeCall): Promise<Map<string, Measured>> {
  const { scale, program, trackers, mode, hashes, peers } = call;
  const seconds = scale.isQuick ? SECONDS_QUICK : SECONDS;
  const all = new Map<string, Measured>();
  for (const { name } of trackers) {
    all.set(name, { speeds: [], cpuMicros: [], p99: [], errors: 0 });
  }
  const serve = async (tracker: TrackerServer): Promise<LoadResult> => {
    const { port } = tracker;
    const load = { mode, port, hashes, peers, seconds, inFlight: IN_FLIGHT };
    const result = await runLoad(program, load);
    if (!isAlive(tracker)) all.delete(tracker.name);
    return result;
  };
  for (const tracker of trackers) {
    let warmed = 0;
    for (let round = 0; round < WARM_ROUNDS_MAX && warmed < WARM_ANSWERS; round++) {
      if (all.has(tracker.name)) warmed += (await serve(tracker)).answers;
    }
  }
  for (let run = 0; run < Math.min(scale.runs, RUNS_MAX); run++) {
    for (const tracker of trackers) {
      if (!all.has(tracker.name)) continue;
      const cpu = tracker.cpuSeconds;
      const result = await serve(tracker);
      const measured = all.get(tracker.name);
      if (measured === undefined) continue;
      measured.speeds.push(result.answers / result.seconds);
      measured.cpuMicros.push(((tracker.cpuSeconds - cpu) * 1e6) / Math.max(1, result.answers));
      measured.p99.push(result.p99);
      measured.errors += result.errors;
    }
  }
  return all;
}

function* figuresOf(
  mode: string,
  hashes: number,
  peers: number,
  all: ReadonlyMap<string, Measured>,
  ofOpenTracker: number,
): Generator<Figure> {
  for (const [name, { speeds, cpuMicros, p99, errors }] of all) {
    yield figureOf(`${name}, ${mode}, ${hashes} hashes`, "announces/s", speeds, {
      hashes,
      peers,
      inFlight: IN_FLIGHT,
      cpuMicrosPerAnnounce: rounded(spreadOf(cpuMicros).median),
      p99Micros: rounded(spreadOf(p99).median),
      errors,
    });
  }
  const ours = all.get(OURS)!;
  for (const [peer, most] of [
    ["opentracker", ofOpenTracker],
    ["bittorrent-tracker", OF_NPM],
  ] as const) {
    const theirs = all.get(peer);
    if (theirs === undefined) continue;
    const times = ours.cpuMicros.map((micros, run) => micros / theirs.cpuMicros[run]!);
    const speed = spreadOf(ours.speeds.map((one, run) => one / Math.max(1, theirs.speeds[run]!)));
    const metric = `processor time an announce against ${peer}, ${mode}, ${hashes} hashes`;
    const conditions = { hashes, bySpeed: rounded(speed.median), ...floorAgainst(theirs, all) };
    yield { ...figureOf(metric, "×", times, conditions), target: { atMost: most } };
  }
  yield* floorOf(mode, hashes, all);
}

// What bare Node takes of the other's time: a tracker on Node cannot reach less.
function floorAgainst(
  theirs: Measured,
  all: ReadonlyMap<string, Measured>,
): { bareNodeAgainstIt?: number } {
  const bare = all.get(BARE);
  if (bare === undefined) return {};
  const times = bare.cpuMicros.map((micros, run) => micros / theirs.cpuMicros[run]!);
  return { bareNodeAgainstIt: rounded(spreadOf(times).median) };
}

// How much of the time is Node's own.
function* floorOf(
  mode: string,
  hashes: number,
  all: ReadonlyMap<string, Measured>,
): Generator<Figure> {
  const bare = all.get(BARE);
  if (bare === undefined) return;
  for (const name of [OURS, "opentracker", "bittorrent-tracker"]) {
    const theirs = all.get(name);
    if (theirs === undefined) continue;
    const times = theirs.cpuMicros.map((micros, run) => micros / bare.cpuMicros[run]!);
    const metric = `processor time an announce of ${name} against bare Node, ${mode}, ${hashes} hashes`;
    yield figureOf(metric, "×", times, { hashes });
  }
}
