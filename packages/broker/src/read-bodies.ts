import type { Engine } from "@sluice/engine";
import { type Chunks, readBody } from "./chunks.ts";
import type { Body } from "./codec/body.ts";

/** Names of bodies rise with their places: in so many bytes of a chunk they are neighbours. */
const NEIGHBOURS_BYTES = 2 ** 17;

type Bodies = (Body | undefined)[];

/**
 * The bodies of jobs, in their order; a promise if some have to be read from the log. Jobs that go
 * out together mostly came together, and one read of the log brings the bodies of many. So
 * neighbours are read one after the other, where a read of its own for each job was a chain of ten
 * promises for each.
 */
export function readBodies(
  engine: Engine,
  chunks: Chunks,
  jobs: readonly { readonly id: number }[],
): Bodies | Promise<Bodies> {
  const bodies: Bodies = [];
  /** Jobs by the place of their bodies: the first is being read. */
  let reading: Map<number, Reading> | undefined;
  for (let index = 0; index < jobs.length; index++) {
    const { id } = jobs[index]!;
    const before = reading?.get(placeOf(engine, id));
    if (before !== undefined) {
      before.rest.push(index);
      continue;
    }
    const body = readBody(engine, chunks, id);
    if (body instanceof Promise) {
      reading ??= new Map();
      reading.set(placeOf(engine, id), { index, body, rest: [] });
    } else bodies[index] = body;
  }
  if (reading === undefined) return bodies;
  const all = [...reading.values()].map(async ({ index, body, rest }) => {
    bodies[index] = await body;
    for (const next of rest) {
      const read = readBody(engine, chunks, jobs[next]!.id);
      bodies[next] = read instanceof Promise ? await read : read;
    }
  });
  return Promise.all(all).then(() => bodies);
}

interface Reading {
  readonly index: number;
  readonly body: Promise<Body>;
  /** Jobs with bodies nearby. */
  readonly rest: number[];
}

function placeOf(engine: Engine, id: number): number {
  const name = engine.body(id);
  return typeof name === "number" ? Math.floor(name / NEIGHBOURS_BYTES) : -1;
}
