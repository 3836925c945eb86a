// What jobs, lanes, gates and workers are called is shown as it is, and does nothing.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { Stage } from "./stage.ts";

const stage = await Stage.start();
after(() => stage.close());
const call = (line: string, body?: unknown) => stage.server.call(line, body);

const ATTEMPTS = [
  "<img src=x onerror=\"document.title='broken'\">",
  "<script>document.title='broken'</script>",
  '"><svg onload="document.title=\'broken\'">',
  "javascript:document.title='broken'",
  "{{constructor.constructor('document.title=1')()}}",
  "</pre><iframe src=javascript:alert(1)>",
];
const [first = ""] = ATTEMPTS;

await call("PUT /v1/queues/q", { retry: { attempts: 2, min: 0 } });
for (const text of ATTEMPTS) {
  await call("POST /v1/queues/q/jobs", {
    payload: { [text]: text },
    fairnessKey: text,
    headers: { note: text },
    dedupe: { key: text, mode: "pending" },
    gates: ["g"],
  });
}
await call("POST /v1/gates/g/cooldown", { duration: 3_600_000, reason: first });
await call("PUT /v1/queues/bad", { retry: { attempts: 3, min: 600_000, max: 600_000 } });
const ids: string[] = [];
for (const worker of [first, "w"]) {
  ids.push((await call("POST /v1/queues/bad/jobs", { payload: first })).body.id);
  const { jobs } = (await call("POST /v1/queues/bad/lease", { max: 1, worker })).body;
  if (worker === "w")
    await call("POST /v1/nack", { items: [{ lease: jobs[0].lease, error: first }] });
}

await call("PUT /v1/queues/odd", {});
for (const fairnessKey of ["\u202egnp.exe", "日本🚀/שלום", "a\u0000b"]) {
  await call("POST /v1/queues/odd/jobs", { payload: { file: fairnessKey }, fairnessKey });
}

async function holdsStill(page: Page, text = first): Promise<void> {
  await page.getByText(text).first().waitFor();
  const made = await page.evaluate(() => ({
    title: document.title,
    elements: document.querySelectorAll("main img, main script, main iframe, main svg[onload]")
      .length,
    links: document.querySelectorAll("a[href^='javascript']").length,
  }));
  assert.doesNotMatch(made.title, /broken/);
  assert.deepEqual([made.elements, made.links], [0, 0]);
}

const VIEWS: readonly (readonly [what: string, path: string])[] = [
  ["lanes", "#/queues/q/lanes"],
  ["payloads and lanes of a list of jobs", "#/queues/q/jobs"],
  ["the reason of a cooldown", "#/gates"],
  ["workers", "#/queues/bad/workers"],
  ["the payload and worker of a job", `#/jobs/${ids[0]}`],
  ["the error of a job", `#/jobs/${ids[1]}`],
  ["lanes, payloads and errors of jobs of all queues", "#/jobs"],
  ["errors of failures", "#/failures"],
  ["workers of all queues", "#/workers"],
  ["the words of a queue that stands still", "#/"],
];

for (const [what, path] of VIEWS) {
  test(`${what} are shown as they are and do nothing`, async () => {
    if (path === "#/") void call("POST /v1/queues/q/lease", { max: 1, wait: 10_000 });
    await stage.look(path, holdsStill);
  });
}

test("a job with such things in its headers and dedupe key is shown as it is", async () => {
  const { items } = (await call("GET /v1/queues/q/jobs")).body;
  for (const { id } of items) await stage.look(`#/jobs/${id}`, (page) => holdsStill(page, id));
});

test("names that turn around what is written, or cannot be seen, do not look like others", () =>
  stage.look("#/queues/odd/jobs", async (page) => {
    await page.getByText("\\u202egnp.exe", { exact: true }).waitFor();
    await page.getByText('{"file":"\\u202egnp.exe"}').waitFor();
    await page.getByText("日本🚀/שלום", { exact: true }).waitFor();
    await page.goto(`${stage.server.address}/#/queues/odd`);
    await page.getByRole("rowheader", { name: "\\u202egnp.exe", exact: true }).waitFor();
    const text = await page.locator("main").textContent();
    for (const unseen of ["\u202e", "\u0000"]) assert.ok(!text?.includes(unseen));
  }));

test("text in the address does nothing either", async () => {
  for (const text of ATTEMPTS) {
    await stage.look(`#/queues/${encodeURIComponent(text)}`, async (page) => {
      await page.getByRole("heading", { name: text }).waitFor();
      assert.doesNotMatch(await page.title(), /^broken/);
    });
  }
});

test("the page may not do what a script from elsewhere would want", () =>
  stage
    .look("", async (page) => {
      const outcome = await page.evaluate(async () => {
        const script = document.createElement("script");
        script.textContent = "document.title = 'broken'";
        document.body.append(script);
        const away = await fetch("https://example.org/").then(
          () => "sent",
          () => "refused",
        );
        return { title: document.title, away };
      });
      assert.equal(outcome.away, "refused");
      assert.doesNotMatch(outcome.title, /broken/);
    })
    .catch((error: Error) => {
      // The browser tells of what it refused, which here is what is wanted.
      assert.match(error.message, /content security policy/i);
      assert.doesNotMatch(error.message, /left the server|a script has said/);
    }));
