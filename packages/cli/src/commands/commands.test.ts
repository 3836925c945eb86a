import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { command, place } from "../testing/sluice.ts";

test("a job is added, found, explained, taken and gone", async (t) => {
  const { sluice } = await place(t);
  const options = ["--fairness-key", "acme", "--headers", "x=1", "--create"];
  const added = await sluice("add mail", '{"to":"a@b.c"}', ...options);
  assert.equal(added.code, 0);
  const id = added.text;
  assert.match(id, /^[a-z][0-9a-z]+$/);
  assert.match((await sluice("queue list")).text, /^mail +1 +0 +0/m);
  assert.match((await sluice(`why ${id}`)).text, /worker/);
  const shown = JSON.parse((await sluice(`job show ${id} --json`)).text);
  assert.deepEqual(shown.payload, { to: "a@b.c" });
  assert.equal(shown.fairnessKey, "acme");
  assert.deepEqual(shown.headers, { x: "1" });
  assert.match((await sluice("queue lanes mail")).text, /acme +3 +1 +1/);
  const taken = await sluice("consume mail --count 1");
  assert.deepEqual([taken.code, taken.text], [0, '{"to":"a@b.c"}']);
  assert.match((await sluice(`job show ${id}`)).text, /state +finished/);
  assert.match((await sluice(`job history ${id}`)).text, /added[\s\S]*dispatched[\s\S]*ended/);
});

test("workers are listed with what they hold since when", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  for (const queue of ["mail", "orders"]) await broker.setQueue(queue, {});
  const payload = new TextEncoder().encode("1");
  const [first] = await broker.add("orders", [{ payload }, { payload }, { payload }]);
  await broker.lease("orders", { max: 3, worker: "packer-1" });
  const place1 = { host: "web-1", process: 4711, version: "0.1.0" };
  await broker.consume("mail", { worker: "sender-1", credits: 3, place: place1 }, () => {});
  const all = (await sluice("queue workers --limit 2")).text.split("\n");
  assert.match(all[0]!, /^worker +queue +host +process +version +connected +free +holds +job/);
  assert.match(all[1]!, new RegExp(`^packer-1 +orders +0 +3 +${first!.ok!.id} +\\d{4}-`));
  assert.match(all[2]!, /^ +\w+ +\d{4}-/);
  assert.match(all[3]!, /^ +and 1 more$/);
  assert.match(all[4]!, /^sender-1 +mail +web-1 +4711 +0.1.0 +\d{4}-\S+ \S+ +3 +0$/);
  assert.match((await sluice("queue workers mail")).text, /sender-1/);
  const [one] = JSON.parse((await sluice("queue workers orders --json")).text);
  assert.equal(one.jobs.length, 3);
  assert.equal(typeof one.jobs[0].since, "number");
  assert.equal((await sluice("queue workers mail orders")).code, 2);
});

test("a flow is added, drawn, and runs in its order", async (t) => {
  const { sluice, feed } = await place(t);
  await sluice("queue set work");
  const jobs = {
    first: { queue: "work", payload: 1 },
    second: { queue: "work", payload: 2, after: ["first"] },
    last: { queue: "work", payload: 3, after: ["first", "second"] },
  };
  const added = await feed(JSON.stringify({ jobs }), "flow", "add", "-");
  assert.equal(added.code, 0, added.remarks);
  const [first, second, last] = added.text.split("\n").map((line) => line.split(" ")[1]);
  const drawn = (await sluice(`flow show ${last}`)).text;
  assert.deepEqual(drawn.split("\n"), [
    `${last} work blocked`,
    `  ${first} work waiting`,
    `  ${second} work blocked`,
    `    ${first} work waiting`,
  ]);
  assert.match((await sluice(`why ${second}`)).text, new RegExp(`waits for job ${first}`));
  assert.equal((await sluice("consume work --drain")).text, "1\n2\n3");
});

test("each line of standard input is a job, and invalid lines are reported", async (t) => {
  const { sluice, feed } = await place(t);
  const many = await feed('{"n":1}\n\n{"n":2}\r\n3', "add", "numbers", "-", "--create");
  assert.equal(many.text.split("\n").length, 3);
  const taken = await sluice("consume numbers --drain");
  assert.equal(taken.text, '{"n":1}\n{"n":2}\n3');
  const bad = await feed("4\nnot json\n5", "add", "numbers", "-");
  assert.equal(bad.code, 1);
  assert.match(bad.text, /^\w+\nINVALID: line 2: a payload is JSON, got "not json".*\n\w+$/);
  assert.equal((await sluice("consume numbers --drain")).text, "4\n5");
  await sluice("queue set numbers capacity.jobs=1");
  const full = await feed("1\n2", "add", "numbers", "-");
  assert.equal(full.code, 1);
  assert.match(full.text, /QUEUE_FULL/);
});

test("a payload is read from a file", async (t) => {
  const { sluice } = await place(t);
  const dir = mkdtempSync(join(tmpdir(), "sluice-payload-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "payload.json");
  writeFileSync(path, '{ "n": 1 }\n');
  await sluice(`add files @${path} --create`);
  assert.equal((await sluice("consume files --drain")).text, '{"n":1}');
  const missing = await sluice(`add files @${path}.none`);
  assert.equal(missing.code, 2);
  assert.match(missing.remarks, /cannot read the payload: ENOENT/);
});

test("a program is run for each job: its exit code decides", async (t) => {
  const { sluice } = await place(t);
  await sluice("queue set work retry.attempts=1");
  await sluice("add work", '"one"');
  const well = await sluice("consume work --count 1 -- sh -c", 'test "$(cat)" = \'"one"\'');
  assert.equal(well.code, 0, well.remarks);
  const id = (await sluice("add work", '"two"')).text;
  const wrong = await sluice("consume work --count 1 -- sh -c", "echo because >&2; exit 3");
  assert.equal(wrong.code, 1);
  assert.match(wrong.remarks, /exit code 3: because/);
  assert.match((await sluice(`job show ${id}`)).text, /error +exit code 3: because/);
  const missing = await sluice(`redrive work.dlq --id ${id} --id zzz`);
  assert.deepEqual([missing.code, missing.text], [1, "1 job is back"]);
  assert.match(missing.remarks, /^1 job is not back: no dead letter of work.dlq/);
  assert.match((await sluice("redrive work.dlq")).text, /^0 jobs are back$/);
  const refused = await sluice("redrive work").catch((error) => error);
  assert.equal(refused.code, "NOT_A_DLQ");
});

test("a signal continues the job that waits for it, and its steps are shown", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  await sluice("queue set q");
  const { text: id } = await sluice("add q", "1");
  const [job] = await broker.lease("q", { max: 1 });
  const { lease } = job!;
  await broker.recordStep([{ lease, name: "charge", occurrence: 0, value: { paid: 1 } }]);
  await broker.suspend([{ lease, name: "approved", occurrence: 0, kind: "wait" }]);
  assert.match((await sluice(`why ${id}`)).text, /waits for the signal "approved"/);
  assert.equal((await sluice(`signal ${id} approved`, '{"by":"ann"}')).text, "sent");
  const shown = await sluice(`job steps ${id}`);
  assert.match(shown.text, /run +charge +\{"paid":1\}\n.*wait +approved +\{"by":"ann"\}/);
  const bad = await sluice(`signal ${id} approved`, "{by").catch((error) => error);
  assert.match(String(bad.message ?? bad.remarks), /VALUE is JSON/);
});

test("the time of a job is named after its state", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  await sluice("queue set q retry.attempts=1");
  assert.match((await sluice("queue show q")).text, /^retry +1 attempt,/m);
  const [added] = await broker.add("q", [{ payload: new Uint8Array() }]);
  const { id } = added!.ok!;
  const [leased] = await broker.lease("q", { max: 1 });
  assert.match((await sluice(`job show ${id}`)).text, /^leased until +\d{4}-/m);
  await broker.ack([{ lease: leased!.lease }]);
  assert.match((await sluice(`job show ${id}`)).text, /^ended +\d{4}-/m);
});

test("schedules are set, seen, run, paused, filled back and deleted", async (t) => {
  const { sluice } = await place(t);
  assert.match((await sluice("schedule")).text, /^no schedules yet/);
  await sluice("queue set reports");
  const set = await sluice(
    "schedule set nightly queue=reports",
    "cron=0 3 * * *",
    'payload={"a":1}',
  );
  assert.match(set.text, /nightly +reports +0 3 \* \* \* +\S+/);
  const planless = await sluice("schedule set weekly queue=reports");
  assert.equal(planless.code, 2);
  assert.match(planless.remarks, /one of cron=EXPRESSION, every=DURATION and at=TIMES is needed/);
  assert.match((await sluice("schedule run nightly")).text, /^added job \w+$/);
  assert.equal((await sluice("consume reports --count 1")).text, '{"a":1}');
  const filled = await sluice("schedule backfill nightly 2026-03-01 2026-03-03");
  assert.equal(filled.text, "added 2 jobs");
  await sluice("schedule pause nightly");
  assert.match((await sluice("schedule show nightly")).text, /paused/);
  await sluice("schedule resume nightly --queue reports");
  const [info] = JSON.parse((await sluice("schedule list --json")).text);
  assert.deepEqual([info.name, info.paused, info.next.length], ["nightly", false, 5]);
  assert.equal((await sluice("schedule delete nightly")).text, "nightly is deleted");
  await assert.rejects(sluice("schedule show nightly"), { code: "SCHEDULE_NOT_FOUND" });
  await assert.rejects(sluice("schedule set x queue=reports cron=bad"), { code: "INVALID" });
});

test("gates are set, seen, cooled down and removed", async (t) => {
  const { sluice } = await place(t);
  const set = await sluice("gate set smtp rate=5 burst=10 interval.every=2s");
  assert.match(set.text, /^smtp +5\/s, burst 10; every 2.0 s/m);
  const cooled = await sluice("gate cooldown smtp 30s", "429 from the provider");
  assert.match(cooled.text, /until .* 429 from the provider/);
  await sluice("gate clear smtp");
  assert.doesNotMatch((await sluice("gate show smtp")).text, /until/);
  await sluice("gate delete smtp");
  assert.match((await sluice("gate list")).text, /^no gates yet/);
  await assert.rejects(sluice("gate set smtp rate=many"), { code: "INVALID" });
});

test("a queue that does not exist is only made when that is asked for", async (t) => {
  const { sluice } = await place(t);
  await assert.rejects(sluice("add maill 1"), {
    code: "QUEUE_NOT_FOUND",
    message: 'there is no queue "maill": check the name, or make the queue with --create',
  });
  assert.match((await sluice("queue list")).text, /^no queues yet/);
  await sluice("add mail 1 --create");
  assert.equal((await sluice("add mail 2")).code, 0);
});

test("queues are changed, paused, purged and deleted, the last two not by a slip", async (t) => {
  const { sluice } = await place(t);
  await sluice("add mail 1 --create");
  assert.match((await sluice("queue set mail lease=60s")).text, /lease +1.0 min/);
  await sluice("queue pause mail");
  assert.match((await sluice("queue list")).text, /paused/);
  await sluice("queue resume mail");
  assert.equal((await sluice("queue purge mail")).code, 2);
  assert.equal((await sluice("queue purge mail --yes")).code, 0);
  assert.equal((await sluice("queue delete mail --yes")).code, 0);
  await assert.rejects(sluice("queue pause mail"), { code: "QUEUE_NOT_FOUND" });
  await assert.rejects(sluice("queue show mail"), { code: "QUEUE_NOT_FOUND" });
});

test("top shows queues, lanes and gates, and why a queue does not move", async (t) => {
  const { sluice } = await place(t);
  await sluice("gate set shut rate=0");
  await sluice("add mail 1 --lane acme --gates shut --create");
  const { text } = await sluice("top --once");
  assert.match(text, /mail +1 +0 +0 .*no workers/);
  assert.match(text, /lanes of mail[\s\S]*acme +1/);
  assert.match(text, /shut +0\/s/);
  assert.equal(JSON.parse((await sluice("top --once --json")).text).queues[0].waiting, 1);
});

test("what policies read can be kept", async (t) => {
  const { sluice } = await place(t);
  await sluice("config set limits", '{"acme":5}');
  await sluice("config set word hello");
  assert.equal((await sluice("config list")).text, 'limits={"acme":5}\nword="hello"');
  assert.equal((await sluice("config list --prefix wo")).text, 'word="hello"');
  await sluice("config delete word");
  await assert.rejects(sluice("config get word"), { code: "NOT_FOUND" });
});

test("keys are made, listed and revoked, and only shown once", async (t) => {
  const { served } = await place(t, { keys: true });
  const first = await served.firstKey;
  const env = { SLUICE_URL: served.address, SLUICE_API_KEY: first!.key };
  const sluice = (...args: string[]) => command(args, { env });
  const made = await sluice("keys", "create", "--grant", "produce:mail", "--name", "web");
  assert.match(made.remarks, /not shown again/);
  const listed = await sluice("keys", "list");
  assert.match(listed.text, /web +produce:mail/);
  assert.ok(!listed.text.includes(made.text));
  const asProducer = { env: { ...env, SLUICE_API_KEY: made.text } };
  await sluice("queue", "set", "mail");
  await assert.rejects(command(["consume", "mail", "--drain"], asProducer), { code: "FORBIDDEN" });
  const [, id] = /^(\S+) +web/m.exec(listed.text) ?? [];
  const gates = "consume:mail.*/smtp:*,bank";
  const changed = await sluice("keys", "set", id!, "--grant", gates);
  assert.equal(changed.text, `${id} may now: ${gates}`);
  assert.match((await sluice("keys", "list")).text, /consume:mail\.\*\/smtp:\*,bank/);
  await sluice("keys", "revoke", id!);
  await assert.rejects(command(["queue"], asProducer), { code: "UNAUTHORIZED" });
  await assert.rejects(command(["queue"], { env: { SLUICE_URL: served.address } }), {
    code: "UNAUTHORIZED",
  });
});

test("a bench runs and leaves nothing behind", async (t) => {
  const { sluice } = await place(t);
  const { text } = await sluice("bench --jobs 500 --bytes 10");
  assert.match(text, /^500 jobs of 10 bytes added, delivered and acked in/);
  assert.match((await sluice("queue list")).text, /^no queues yet/);
});

test("nothing listens there: the address and a code of its own", async () => {
  const env = { SLUICE_URL: "http://127.0.0.1:1" };
  await assert.rejects(command(["queue"], { env }), { code: "DISCONNECTED" });
});

for (const [line, said] of [
  ["queu list", /there is no command "queu", did you mean "queue"\?/],
  ["queue fly", /"fly" is not one of list, show/],
  ["queue show", /QUEUE is needed/],
  ["flow", /one of add, show, seal, cancel is needed/],
  ["flow add /none/such", /cannot read the flow: ENOENT/],
  ["schedule backfill nightly", /NAME, FROM and TO are needed, got nightly/],
  ["webhooks create https://a.b --event die", /--event must be one of .*, got "die"/],
  ["jobs delete --yes", /a FILTER is needed; --queue "\*" means the jobs of all queues/],
  ["jobs delete --changed --yes", /a FILTER is needed/],
  ["jobs move --id a1 --yes", /--to QUEUE is needed/],
  ["jobs --bogus", /--help lists all flags\.$/m],
  ["add mail", /QUEUE and PAYLOAD are needed/],
  ["add mail 1 --nope", /^there is no flag --nope$/m],
  ["add mail 1 --attempt 1", /^there is no flag --attempt, did you mean "--attempts"\?$/m],
  ["add mail 1 --weight heavy", /--weight must be an integer from 1 to/],
  ["add mail 1 --run-at tomorrow", /--run-at must be a time such as .*, got "tomorrow"/],
  ["top --every never", /--every must be milliseconds or a string/],
  ["serve extra", /no more words are taken, got extra/],
  ["completion tcsh", /SHELL must be bash, zsh or fish/],
] as const) {
  test(`"${line}" makes no sense, and that is said with the usage`, async (t) => {
    const { sluice } = await place(t);
    const { code, text, remarks } = await sluice(line);
    assert.equal(code, 2);
    assert.match(remarks, said);
    assert.ok(remarks.split("\n").length < 22, "what is wrong stays on the screen");
    assert.equal(text, "", "what reads the output is not fed a usage");
  });
}

test("every command tells how it is used", async () => {
  const { text } = await command([]);
  const names = [...text.matchAll(/^ {2}sluice (\w+)/gm)].map(([, name]) => name!);
  assert.ok(names.length >= 17);
  for (const name of names) {
    const { code, text: help } = await command(["help", name]);
    assert.equal(code, 0);
    assert.match(help, new RegExp(`sluice ${name}`));
    for (const shell of ["bash", "zsh", "fish"]) {
      assert.match((await command(["completion", shell])).text, new RegExp(`\\b${name}\\b`));
    }
  }
});

test("the refusal says that the server is not a node of a cluster", async (t) => {
  const { sluice } = await place(t);
  for (const line of ["cluster", "cluster drain a"]) {
    const refused = await sluice(line).catch((error) => error);
    assert.equal(refused.code, "NOT_FOUND");
    assert.match(refused.message, /not a node of a cluster/);
  }
});

test("with --json payloads and results are JSON values, and other bytes are base64", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  const { text: id } = await sluice("add mail", '{"to":"a@b.c"}', "--create");
  const [bytes] = await broker.add("mail", [{ payload: new Uint8Array([255, 0]) }]);
  const listed = (await sluice("queue jobs mail --json")).text.split("\n");
  const payloads = listed.map((line) => JSON.parse(line)).map((job) => [job.id, job.payload]);
  assert.deepEqual(new Map(payloads as never).get(id), { to: "a@b.c" });
  const shown = JSON.parse((await sluice(`job show ${bytes!.ok!.id} --json`)).text);
  assert.deepEqual([shown.payload, shown.payloadBase64], [undefined, "/wA="]);
  const taken = JSON.parse((await sluice("consume mail --count 1 --json")).text);
  assert.equal(taken.payload.to, "a@b.c");
  const [other] = await broker.lease("mail", { max: 1 });
  const result = new TextEncoder().encode('{"n":1}');
  await broker.ack([{ lease: other!.lease, result }]);
  const done = JSON.parse((await sluice(`job show ${bytes!.ok!.id} --json`)).text);
  assert.deepEqual(done.result, { n: 1 });
});

test("a configuration key that is missing is named", async (t) => {
  const { sluice } = await place(t);
  await assert.rejects(sluice("config get rate"), { code: "NOT_FOUND", message: /key rate/ });
  await sluice("config set rate 5");
  assert.equal((await sluice("config get rate")).text, "5");
});

test("prints the version, as a command and as an option", async () => {
  for (const args of [["version"], ["--version"]]) {
    const { code, text } = await command(args);
    assert.deepEqual([code, /^\d+\.\d+\.\d+/.test(text)], [0, true]);
  }
});

test("with --json prints the error of a call that makes no sense as JSON", async () => {
  for (const args of [
    ["queue", "--nonsense", "--json"],
    ["quue", "--json"],
    ["why", "--json"],
  ]) {
    const { code, remarks } = await command(args);
    assert.equal(code, 2);
    assert.equal(JSON.parse(remarks).error.code, "INVALID");
  }
});
