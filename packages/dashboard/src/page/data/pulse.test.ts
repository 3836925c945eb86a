import assert from "node:assert/strict";
import { test } from "node:test";
import { PulseConnection, type PulseEvent, type Source, STALE_MS } from "./pulse.ts";

class FakeSource implements Source {
  readonly #heard = new Map<string, (event: { data?: string }) => void>();
  isClosed = false;

  addEventListener(type: string, heard: (event: { data?: string }) => void): void {
    this.#heard.set(type, heard);
  }

  tell(type: string, data?: Partial<PulseEvent>): void {
    this.#heard.get(type)?.({ data: JSON.stringify({ at: 1, queues: [], isCut: false, ...data }) });
  }

  close(): void {
    this.isClosed = true;
  }
}

const WALL = 1_000_000_000;

function scene() {
  const sources: FakeSource[] = [];
  let now = 0;
  const line = new PulseConnection({
    open: () => {
      const source = new FakeSource();
      sources.push(source);
      return source;
    },
    now: () => now,
    wall: () => WALL,
  });
  const heard: PulseEvent[] = [];
  line.hear((pulse) => heard.push(pulse));
  const pass = (ms: number): void => {
    now += ms;
    line.check();
  };
  line.connect();
  return { line, sources, heard, pass, last: () => sources.at(-1)! };
}

test("it is live with the first pulse, and the first concerns everything", () => {
  const { line, heard, last } = scene();
  assert.equal(line.state, "connecting");
  last().tell("pulse", { queues: ["a"] });
  last().tell("pulse", { queues: ["b"] });
  assert.equal(line.state, "live");
  assert.deepEqual(
    heard.map(({ isCut }) => isCut),
    [true, false],
  );
});

test("silence makes it stale, and it dials again until a server answers", () => {
  const { line, sources, heard, pass, last } = scene();
  last().tell("pulse");
  pass(STALE_MS);
  assert.equal(line.state, "live");
  pass(1);
  assert.equal(line.state, "stale");
  assert.equal(sources.length, 2);
  assert.ok(sources[0]!.isClosed);
  pass(1_000);
  assert.equal(sources.length, 2, "not more often than every two seconds");
  pass(1_000);
  assert.equal(sources.length, 3);
  last().tell("pulse");
  assert.equal(line.state, "live");
  assert.equal(heard.at(-1)?.isCut, true, "after a gap anything may have changed");
});

test("a line that breaks is stale at once and is opened again", () => {
  const { line, sources, pass, last } = scene();
  last().tell("pulse");
  last().tell("error");
  pass(500);
  assert.equal(line.state, "stale");
  pass(2_000);
  assert.equal(sources.length, 2);
  sources[0]!.tell("pulse");
  assert.equal(line.state, "stale", "what an old line says does not count");
});

test("a page that is not visible holds no line", () => {
  const { line, sources, pass, last } = scene();
  const states: string[] = [];
  line.watch(() => states.push(line.state));
  last().tell("pulse");
  line.rest();
  assert.ok(last().isClosed);
  pass(60_000);
  assert.equal(sources.length, 1);
  line.wake();
  last().tell("pulse");
  assert.deepEqual(states, ["live", "resting", "connecting", "live"]);
});

test("times go by the server's clock when this one is wrong, and not by the way of a pulse", () => {
  const { line, last } = scene();
  assert.equal(line.serverNow(), WALL);
  last().tell("pulse", { at: WALL - 300 });
  assert.equal(line.serverNow(), WALL);
  last().tell("pulse", { at: WALL + 240_000 });
  assert.equal(line.serverNow(), WALL + 240_000);
});
