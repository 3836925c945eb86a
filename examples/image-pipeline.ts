// One picture is fetched, resized to four widths at once, and published when all of them are done.
import { Sluice } from "sluice";

await using sluice = await Sluice.open({ durability: "memory" });
const fetch = await sluice.queue<{ file: string }, { bytes: number }>("fetch");
const resize = await sluice.queue<{ width: number }, { width: number; bytes: number }>("resize");
const publish = await sluice.queue<{ album: string }, string>("publish");
await sluice.gate("disk").set({ concurrency: 2 });

fetch.work(() => ({ bytes: 8_000_000 }));

resize.work(
  async (job) => {
    const [picture] = await Array.fromAsync(job.dependencies<{ bytes: number }>());
    const { width } = job.payload;
    if (width > 4000) throw new Error("no picture is that wide");
    return { width, bytes: Math.round((picture!.result!.bytes * width) / 4000) };
  },
  { concurrency: 4 },
);

publish.work(async (job) => {
  const parts: string[] = [];
  for await (const { state, result } of job.dependencies<{ width: number; bytes: number }>()) {
    parts.push(result === undefined ? state : `${result.width}px ${result.bytes} B`);
  }
  return `${job.payload.album}: ${parts.join(", ")}`;
});

const widths = [400, 800, 1600, 6400];
const sizes = widths.map((width) => [
  `w${width}`,
  // The disk takes two at a time, whatever flow they belong to. One try is enough for a wrong size.
  { queue: "resize", payload: { width }, gates: ["disk"], attempts: 1, after: ["original"] },
]);
const { jobs } = await sluice.flow({
  jobs: {
    original: { queue: "fetch", payload: { file: "cat.jpg" } },
    ...Object.fromEntries(sizes),
    album: {
      queue: "publish",
      payload: { album: "cats" },
      // A size that cannot be made does not keep the others from being published.
      after: widths.map((width) => ({ job: `w${width}`, onDependencyFailure: "run" as const })),
    },
  },
});
console.log(await jobs.album!.finished());
