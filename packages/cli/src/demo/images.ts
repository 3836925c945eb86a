/** A flow for each picture: fetched, resized to some widths at once, and published at the end. */
import { type Feed, pass } from "./feed.ts";

const EVERY_MS = 4_000;
const WORK_MS = 600;
const WIDTHS = [320, 640, 1280, 2560];

export const feedImages: Feed = async (sluice, every) => {
  const images = await sluice.queue<{ step: string }>("images");
  images.work(
    async ({ payload }) => {
      await pass(WORK_MS);
      return payload.step;
    },
    { concurrency: 2 },
  );
  let picture = 0;
  every(EVERY_MS, () => {
    const file = `cat-${++picture}.jpg`;
    const resized = WIDTHS.map((width) => [
      `w${width}`,
      { queue: "images", payload: { step: "resize", file, width }, after: ["fetch"] },
    ]);
    return sluice.flow({
      jobs: {
        fetch: { queue: "images", payload: { step: "fetch", file } },
        ...Object.fromEntries(resized),
        publish: {
          queue: "images",
          payload: { step: "publish", file },
          after: WIDTHS.map((width) => `w${width}`),
        },
      },
    });
  });
};
