// An agent that works in steps: it calls a rate-limited model, waits for a person's approval and
// publishes. Stop it wherever you like, with kill -9 too, and start it again: no step that is done
// is done a second time, and it waits for the model and for the person without a worker.
//
// `--die-after N` kills the process when it has done N steps, for the test that tries all of them.

import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Sluice } from "sluice";

const { values } = parseArgs({
  options: {
    dir: { type: "string", default: "./agent-data" },
    "die-after": { type: "string", default: "Infinity" },
  },
});

let left = Number(values["die-after"]);

// What happens outside is written down here, so that one can see that it happens once.
function effect(line: string): void {
  appendFileSync(`${values.dir}-effects.txt`, `${line}\n`);
  console.log(line);
}

// The boundary behind each step.
function boundary(): void {
  if (left-- === 0) process.kill(process.pid, "SIGKILL");
}

interface Answer {
  text: string;
  tokens: number;
}

// Takes the place of a provider that bills by tokens.
async function askModel(prompt: string): Promise<Answer> {
  effect(`model: ${prompt}`);
  return { text: `${prompt}, well considered`, tokens: 40 * prompt.length };
}

await using sluice = await Sluice.open({ dir: values.dir });
await sluice.gate("model").set({ concurrency: 1, interval: { every: 5, from: "start" } });
await sluice.gate("model:tokens").set({ rate: 1000, burst: 20_000 });
const topics = await sluice.queue<string, string>("topics", {
  retry: { attempts: 100, min: 1, max: 10 },
});

topics.work(async ({ payload: topic }, { step }) => {
  const ask = async (name: string, prompt: string): Promise<string> => {
    const gates = ["model", "model:tokens"];
    const retry = { attempts: 5, min: "1s" } as const;
    const answer = await step.run(name, () => askModel(prompt), { gates, cost: 500, retry });
    boundary();
    // What was really used is known now.
    await step.run(`${name}: tokens`, () => {
      return sluice.gate("model:tokens").charge(answer.tokens - 500);
    });
    boundary();
    return answer.text;
  };
  const plan = await ask("plan", `a plan for ${topic}`);
  const text = await ask("write", `a text by ${plan}`);
  await step.sleep("10ms");
  boundary();
  const approval = await step.waitFor<{ by: string }>("approved", { timeout: "7d" });
  boundary();
  if (approval === undefined) return "not approved in time";
  await step.run("publish", () => effect(`published "${topic}", approved by ${approval.by}`));
  boundary();
  return text;
});

// Listens before it adds: the job may wait for the approval at once, when it got so far before.
const events = sluice.events({ queue: "topics", events: ["suspended", "ended", "leased"] });
const dedupe = { key: "bees", mode: "window", window: "30d" } as const;
const job = await topics.add("bees", { dedupe });
boundary();
if (await isWaiting()) await approve();
else {
  for await (const { event } of events) {
    if (event === "ended") break;
    if (event !== "suspended" || !(await isWaiting())) continue;
    await approve();
    break;
  }
}
console.log(await job.finished());

async function isWaiting(): Promise<boolean> {
  const why = await job.why();
  return "step" in why && why.step === "approved";
}

// In life a person does this, from a web page or with `sluice signal JOB approved '{"by":"ann"}'`.
async function approve(): Promise<void> {
  await job.signal("approved", { by: "ann" });
}
