// What stands for the variable parts of error messages on the page of errors.

/** How messages about a log on NATS or in PostgreSQL begin. */
const STORE = "‹store› is damaged at ‹store› ‹sequence›";

/** A message with `‹name›` for each variable part, filled in. */
export function sampleOf(template: string): string {
  const known = template.replace(STORE, "the stream sluice-0 is damaged at sequence 4711");
  const whole = WHOLE[template];
  if (whole !== undefined) return checked(template, whole);
  const named = known.replace(/(?<=[\w›]\.)‹name›/g, "NAME");
  return named.replace(/‹(\w+)›/g, (_, name: string) => SAMPLES[name] ?? name.toUpperCase());
}

/** A sample must be one that the template can make: it has the same words around the values. */
function checked(template: string, sample: string): string {
  const words = template.split(/‹\w+›/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (new RegExp(`^${words.join(".*")}$`).test(sample)) return sample;
  throw new Error(`the sample does not fit its message: ${template}`);
}

/** By the name of the expression. */
const SAMPLES: Readonly<Record<string, string>> = {
  "0": "4096",
  "1": "3",
  "20": "1893456000",
  action: "admin",
  added: "3",
  address: "http://127.0.0.1:7070",
  advertise: "a.example",
  advice: "",
  aside: "./damaged",
  at: "17",
  body: "17",
  bodybytesmax: "16842752",
  bucket: "a b",
  bytes: "20000000",
  bytesmax: "65536",
  call: "add",
  cause: "the disk is full",
  charsmin: "32",
  choices: ": fsync, os, memory",
  circle: "3",
  cluster: "sluice",
  cost: "50",
  costmax: "10",
  count: "17",
  deadlinems: "30000",
  dir: "./data",
  doing: "appending",
  effect: "; it may have taken effect. Repeat it with details.operationId",
  elsewhere: "job.runAt",
  error: "connection refused",
  feature_level: "3",
  base: "8192",
  field: "FIELD",
  names: "wasmoon",
  utf16: "65535",
  waiting: "1000000",
  file: "./data/0000001.log",
  flag: "--port",
  flags: "9",
  flow: "f3",
  from: "https://evil.example",
  gate: "smtp",
  got: "7",
  group: "mail/order-7",
  host: "0.0.0.0",
  i: "0",
  id: "c7qa",
  index: "3",
  job: "c7qa",
  join: "NAMES",
  kept: "100",
  key: "smtp",
  kind: "run",
  known: "port, host",
  lease: "c7qa.x",
  left: "12",
  length: "3",
  lengthbytes: "4096",
  level: "3",
  limit: "65536",
  log: "main",
  made: "4",
  max: "1000",
  maxms: "300000",
  message: "no such file",
  messages: "17",
  method: "GET",
  min: "1",
  most: "100",
  ms: "10000",
  name: "mail",
  nats_oldest: "2.15.1",
  needs: "produce",
  newest: "42",
  node: "a",
  now: "1893456000000",
  octal: "644",
  offset: "4096",
  on: "mail.*",
  operation: "9",
  operationid: "7f3c",
  others: "known are NAMES",
  partition: "4",
  partitions: "12",
  path: "./data",
  percent: "91",
  place: "10.0.0.1:4222",
  position: "4096",
  queue: "mail",
  queuesmax: "10000",
  rate: "500",
  reason: "connection refused",
  received: "3",
  rest: "4096",
  retryafterms: "120",
  scaleupat: "0.6",
  schema: "public",
  self: "a",
  sequence: "4711",
  server: "10.0.0.1:4222",
  shown: "./backup",
  shown_chars_max: "NAME",
  size: "10",
  state: "running",
  status: "404",
  store: "settings",
  stream: "sluice-4",
  table: "pgboss.job",
  there: "is a log sluice-0",
  to: "3",
  last: "11",
  taking: "2",
  todo: "use a newer release of Sluice",
  token: "c7qa.x",
  told: "5",
  unknown: "prot",
  unsyncedbytes: "33554432",
  url: "http://127.0.0.1:7070",
  value: "VALUE",
  version: "3",
  wanted: "a text",
  weight_rule_bytes_max: "4100",
  what: "a text that is not UTF-8",
  why: "connection refused",
};

/** Messages whose parts say something else than the names of their expressions. */
const WHOLE: Readonly<Record<string, string>> = {
  "‹url› cannot be reached: ‹message›":
    "http://127.0.0.1:7070 cannot be reached: connection refused",
  "the webhook's url is refused: ‹message›":
    "the webhook's url is refused: 10.0.0.1 is a private address",
  "role must be one of ‹join›, got ‹value›":
    'role must be one of viewer, operator, admin, got "boss"',
  "dashboard.role must be one of ‹join›, or a function, got ‹value›":
    'dashboard.role must be one of read-only, full, or a function, got "boss"',
  "gates must be at most ‹most› with those of the job, got ‹value›":
    "gates must be at most 16 with those of the job, got 17",
  "jobs must be ‹most›; use one queue for long chains, got ‹value›":
    "jobs must be a flow that changes partition at most 100 times on a path; use one queue for long chains, got 101",
  "jobs.‹0›.after must be free of cycles, got ‹value›":
    'jobs.publish.after must be free of cycles, got "publish > resize > publish"',
  "partition ‹partition› is not in the backup: ‹copied›. With --allow-missing it starts empty":
    "partition 4 is not in the backup: 0, 1, 2, 3 are. With --allow-missing it starts empty",
  'put ‹field› on each job, not beside "jobs"': 'put delay on each job, not beside "jobs"',
  "step ‹name› must be a function, got ‹value›": 'step "charge" must be a function, got undefined',
  "job ‹id› waits for step ‹name›": 'job c7qa waits for step "approved"',
  "there is no partition ‹partition›: ‹range›":
    "there is no partition 12: cluster sluice has 0 to 11",
  "step ‹own› is called in step ‹other›, and both have gates: call it after":
    'step "charge" is called in step "order", and both have gates: call it after',
  "the backup has ‹partitions› partitions and the cluster ‹partitions›: its queues would be in the wrong partitions":
    "the backup has 12 partitions and the cluster 24: its queues would be in the wrong partitions",
  "job must be an object with ‹join›": "job must be an object with payload, gates, delay",
  "on.event must be one of ‹join›, got ‹value›":
    'on.event must be one of connected, disconnected, reconnecting, got "close"',
  "events must be some of ‹join›, got ‹value›":
    'events must be some of added, leased, ended, got "add"',

  "appending failed in the PostgreSQL log ‹log›: ‹what›: was it restored, or did a standby take over?":
    "appending failed in the PostgreSQL log main: the database has lost entry 4711, which was confirmed: was it restored, or did a standby take over?",
  "--‹given› needs --‹missing›: give both files, or neither":
    "--cert needs --cert-key: give both files, or neither",
  "a flow is in one partition of a cluster: ‹where›, the flow in ‹home›. Use one queue, or queues of one partition, for the jobs of a flow":
    "a flow is in one partition of a cluster: queue mail is in partition 3, the flow in 0. Use one queue, or queues of one partition, for the jobs of a flow",
  'a group is named with its queue, such as "orders/batch-7"; got ‹shown›':
    'a group is named with its queue, such as "orders/batch-7"; got "batch-7"',
  "advertise must be an address such as http://a.example:7070, got ‹advertise›":
    "advertise must be an address such as http://a.example:7070, got a.example",
  "cannot read contexts from ‹path›: ‹reason›. Correct the file or remove it":
    "cannot read contexts from ./contexts.json: it is not JSON. Correct the file or remove it",
  "cannot write contexts to ‹path›: ‹message›": "cannot write contexts to ./contexts.json: EACCES",
  "clock.advanceTo must be at least ‹now›, got ‹value›":
    "clock.advanceTo must be at least 1893456000000, got 7",
  "cluster must be addresses of NATS such as nats://a,b,c, got ‹got›":
    'cluster must be addresses of NATS such as nats://a,b,c, got "a:4222"',
  "cluster must be ‹wanted›, got ‹cluster›":
    "cluster must be the address of one PostgreSQL database, got postgres://a,b",
  "cluster-name must be a name of letters, digits and dashes, got ‹name›":
    "cluster-name must be a name of letters, digits and dashes, got a b",
  "connect.tls must have ‹join›, got ‹got›": "connect.tls must have ca, cert, key, got 7",
  "connect.tls.‹given› needs connect.tls.‹missing›: give both, or neither":
    "connect.tls.cert needs connect.tls.key: give both, or neither",
  "dir must be a directory, got ‹shown›: see --log for PostgreSQL, --cluster for NATS":
    "dir must be a directory, got nats://10.0.0.1: see --log for PostgreSQL, --cluster for NATS",
  "job ‹id› ‹why›": "job c7qa is held by another worker",
  "job.‹field› must be at most 64 ‹what›, got ‹count›":
    "job.headers must be at most 64 headers, got 70",
  "key must be words with dots between them, got ‹key›":
    "key must be words with dots between them, got a..b",
  "line ‹number›: ‹message›": "line 3: the payload is not valid JSON",
  "log.level must be one of ‹join›, got ‹level›":
    "log.level must be one of debug, info, warn, error, got loud",
  "no Sluice server can be reached at ‹url›‹why›":
    "no Sluice server can be reached at http://127.0.0.1:7070. Start one with `sluice serve`",
  "no connection to ‹url›; `‹name›` was not sent within ‹ms› ms and has no effect‹why›":
    "no connection to http://127.0.0.1:7070; `add` was not sent within 10000 ms and has no effect (connection refused)",
  "no connection to ‹url›; the call was not sent and has no effect‹why›":
    "no connection to http://127.0.0.1:7070; the call was not sent and has no effect (connection refused)",
  "no connection to ‹url›; ‹what› and has no effect‹why›":
    "no connection to http://127.0.0.1:7070; the call was not sent within 30000 ms and has no effect (connection refused)",
  "node must be a name of letters, digits, dots and dashes, got ‹name›":
    "node must be a name of letters, digits, dots and dashes, got a b",
  "not every partition was reached: ‹message›":
    "not every partition was reached: partition 4 has not answered within 10000 ms",
  "now must be a time in milliseconds, got ‹now›": "now must be a time in milliseconds, got -1",
  "operation must be a number that is not in use, got ‹operation›":
    "operation must be a number that is not in use, got 9",
  "others cannot connect to ‹host›: say --advertise http://NAME:PORT":
    "others cannot connect to 0.0.0.0: say --advertise http://NAME:PORT",
  "partition must be from 0 to ‹1›, got ‹partition›": "partition must be from 0 to 11, got 12",
  "partition ‹partition›: ‹why›": "partition 4: it is not served here",
  "partitions must be a whole number from 1 to 240, got ‹partitions›":
    "partitions must be a whole number from 1 to 240, got 500",
  "queue ‹name› is full: ‹why›": "queue mail is full: 1000000 ready jobs, its capacity",
  "queue ‹queue› was not made: there are ‹length› queues, and queuesMax is ‹queuesmax›. Delete some, or raise queuesMax":
    "queue mail was not made: there are 10000 queues, and queuesMax is 10000. Delete some, or raise queuesMax",
  "queue.dlq must not lead back to its queue: ‹join›":
    "queue.dlq must not lead back to its queue: mail > mail.dlq > mail",
  "schedule.cron must be a cron expression (‹why›), got ‹value›":
    'schedule.cron must be a cron expression (the hour is 25), got "0 25 * * *"',
  "sluice needs Node ‹join› or newer; this is Node ‹version›":
    "sluice needs Node 22.18 or newer; this is Node 20.20.2",
  "step ‹name› is ‹kinds›: give one of them another name":
    'step "wait" is a run and a sleep: give one of them another name',
  "step ‹name› was recorded as ‹kind› and is now ‹kind›: give one of them another name":
    'step "wait" was recorded as run and is now sleep: give one of them another name',
  "the arguments of ‹name› must have at most ‹limit› ‹unit› as JSON; send fewer at a time":
    "the arguments of ack must have at most 250000 values as JSON; send fewer at a time",
  "the backup has ‹partitions› partitions and the cluster ‹partitions›: queues would be looked for in the wrong ones":
    "the backup has 12 partitions and the cluster 8: queues would be looked for in the wrong ones",
  "the body is not valid JSON: ‹found› at position ‹at›":
    "the body is not valid JSON: } at position 17",
  "the cluster has ‹partitions› partitions, and partitions cannot be removed: partitions must be more than that, got ‹partitions›":
    "the cluster has 12 partitions, and partitions cannot be removed: partitions must be more than that, got 8",
  "the handler of a batch must return ‹wanted›, got ‹got›":
    "the handler of a batch must return an array of 3 outcomes, one for each job, or nothing, got 2 outcomes",
  "the log failed: ‹message›": "the log failed: appending failed in ./data: ENOSPC",
  "the log failed‹reason›; the broker confirms nothing more. Check the disk and restart":
    "the log failed (ENOSPC); the broker confirms nothing more. Check the disk and restart",
  "the log has ‹what› before byte ‹at›, unknown to this version":
    "the log has a fact of kind 99 before byte 17, unknown to this version",
  'the log in ‹dir› is in use by ‹who›. Only one process can open a directory: run "sluice serve --dir ‹dir›" in one, and use Sluice.connect in the others':
    'the log in ./data is in use by process 4711. Only one process can open a directory: run "sluice serve --dir ./data" in one, and use Sluice.connect in the others',
  "the log is damaged: ‹what› at byte ‹at›": "the log is damaged: an unknown gate at byte 17",
  "the log ‹name› is in use by another process‹owner›: to share it, run `sluice serve` and use Sluice.connect, or open another log with ?log=NAME":
    "the log main is in use by another process (connection 4711 from 10.0.0.7): to share it, run `sluice serve` and use Sluice.connect, or open another log with ?log=NAME",
  "the queues ‹queue› and ‹queue› both have a schedule ‹name›: name the queue":
    "the queues mail and reports both have a schedule nightly: name the queue",
  "the registry in this database has version ‹version›, and this release of Sluice reads version ‹version›: use the release that made it, or a newer one":
    "the registry in this database has version 2, and this release of Sluice reads version 1: use the release that made it, or a newer one",
  "the steps and signals of job ‹id› would take ‹bytes› bytes: ‹most›":
    "the steps and signals of job c7qa would take 20000000 bytes: at most 16777216 are allowed",
  "the stream ‹name› cannot be a log: ‹wrong›":
    "the stream sluice-0 cannot be a log: it discards old messages when it is full",
  "the stream ‹name› does not answer: ‹error›": "the stream sluice-0 does not answer: no reply",
  "the tables of sluice in this database have version ‹version›, and this release of Sluice reads version 1: use the release that made them, or a newer one":
    "the tables of sluice in this database have version 2, and this release of Sluice reads version 1: use the release that made them, or a newer one",
  "the webhook's url ‹problem›": "the webhook's url must be an address of at most 2048 characters",
  "there is no context ‹name›: ‹hint›": "there is no context prod: `sluice context list` shows all",
  "there is no schedule ‹name›‹where›; to make it, give a queue and one of cron, every and at":
    'there is no schedule "nightly" in queue reports; to make it, give a queue and one of cron, every and at',
  "there is no ‹what›": 'there is no job with the lease "c7qa.x"',
  "there ‹there› already: ‹wanted›":
    "there are the logs of 4 partitions already: the cluster sluice must have --partitions 4",
  "this call needs the permission ‹needs› on ‹what›":
    "this call needs the permission produce on mail",
  "this connection has ‹max› ‹what›, which is the limit; try again later":
    "this connection has 1000 consumers, which is the limit; try again later",
  "this key may not cool down or blame gate ‹shown›: grant the key that gate, or let the queue's policy put it on the job":
    "this key may not cool down or blame gate smtp: grant the key that gate, or let the queue's policy put it on the job",
  "this key may not ‹what› gate ‹gate›: none of its grants names it in `gates`":
    "this key may not cool down gate smtp: none of its grants names it in `gates`",
  "tls must be a certificate and its key as PEM: ‹message›":
    "tls must be a certificate and its key as PEM: no start line",
  "use either ‹or›, not both": "use either --nats-creds or a login in the address, not both",
  "value must be given, got ‹value›": "value must be given, got undefined",
  "‹alone› is for a single server: a cluster keeps its jobs in NATS or PostgreSQL":
    "--dir is for a single server: a cluster keeps its jobs in NATS or PostgreSQL",
  "‹aside› is not empty (‹0›): name a new directory":
    "./damaged is not empty (behind.jsonl): name a new directory",
  "‹at› ‹message›‹choices›, got ‹data›":
    'durability must be equal to one of the allowed values: fsync, os, memory, got "disk"',
  "‹count› readers of ‹of› are connected, which is the limit; try again later":
    "100 readers of events are connected, which is the limit; try again later",
  "‹dir› is not a complete backup: it has no ‹note›":
    "./backup is not a complete backup: it has no cluster.json",
  "‹doing› failed in the PostgreSQL log ‹log›: ‹reason›":
    "appending failed in the PostgreSQL log main: the disk is full",
  "‹doing› failed in the stream ‹stream›: ‹reason›":
    "appending failed in the stream sluice-0: no reply within 10000 ms",
  "‹doing› failed in ‹path›: ‹reason›": "syncing failed in ./data: EIO",
  "‹field› is not a known field‹advice›; ‹others›":
    "job.jobId is not a known field: use dedupe: { key }; known are delay, gates, priority",
  "‹field› is not a valid Lua program: ‹message›":
    "queue.policy.lua is not a valid Lua program: 'end' expected near <eof>",
  "‹field› must be ‹a_duration›‹bound›, got ‹value›":
    'job.lease must be a duration such as "30s" of at most 24h, got "2d"',
  "‹field› must be ‹wanted›, got fields: ‹got›":
    "addBulk[3] must be an object { payload, ...options }, got fields: to, subject",
  "‹field› must be ‹wanted›, got ‹value›": 'job.delay must be a duration such as "30s", got "soon"',
  "‹field›: ‹message›": "job.payload: a field is not JSON",
  '‹file› is damaged at byte ‹offset›: ‹what›; see "sluice log check" and "sluice log repair"':
    './data/0000001.log is damaged at byte 4096: a checksum does not match; see "sluice log check" and "sluice log repair"',
  "‹message›, with no answer within 3000 ms":
    "keys have changed; node b may still use the former ones, with no answer within 3000 ms",
  "‹name› failed: ‹why›": "queue.policy.gates failed: the payload has no provider",
  '‹name› is damaged in the batch at ‹position›: the fact "‹fact›" does not fit those before it (‹reason›)':
    './data is damaged in the batch at 4096: the fact "leased" does not fit those before it (there is no job 17)',
  "‹name› must be an object with ‹join›": "cooldown must be an object with gate, duration, reason",
  "‹path› cannot be read: ‹message›": "./sluice.yaml cannot be read: ENOENT",
  "‹path› has format ‹format›; this release reads format ‹format›":
    "./backup/cluster.json has format 2; this release reads format 1",
  "‹path› holds API keys and has mode ‹octal›: run chmod 600 ‹path›":
    "./contexts.json holds API keys and has mode 644: run chmod 600 ./contexts.json",
  "‹path› is not YAML: ‹message›": "./sluice.yaml is not YAML: missing , at line 3",
  "‹path› must be JSON, got ‹culprit›": "payload.when must be JSON, got an invalid Date",
  "‹path› must have names and values": "./sluice.yaml must have names and values",
  "‹path›: ‹unknown› is not known; known are ‹known›":
    "./sluice.yaml: prot is not known; known are port, host, dir",
  "‹place› is nats-server ‹version›; Sluice needs ‹nats_oldest› or newer, because older ones did not pass its fault tests. Upgrade it, or accept that with --allow-untested-nats":
    "10.0.0.1:4222 is nats-server 2.10.27; Sluice needs 2.15.1 or newer, because older ones did not pass its fault tests. Upgrade it, or accept that with --allow-untested-nats",
  "‹root›: ‹why›": "payload.to: expected a string",
  '‹setting› is off in this database, so a power loss would take confirmed jobs: turn it on, or open the log with durability "os"':
    'synchronous_commit is off in this database, so a power loss would take confirmed jobs: turn it on, or open the log with durability "os"',
  "‹shown› does not permit this login to ‹join›: give it the permissions that docs/cluster.md lists":
    "nats://10.0.0.1:4222 does not permit this login to publish to $JS.API.>: give it the permissions that docs/cluster.md lists",
  "‹shown› is not empty: nothing was copied": "./data-again is not empty: nothing was copied",
  "‹store› is damaged at ‹store› ‹sequence›: ‹what›":
    "the stream sluice-0 is damaged at message 4711: its checksum does not match",
  "‹store› was written by a newer version of Sluice, from ‹store› ‹sequence› on: update to open it":
    "the stream sluice-0 was written by a newer version of Sluice, from message 4711 on: update to open it",
  "‹strange› is for a cluster on NATS, and this one is in PostgreSQL":
    "--nats-creds is for a cluster on NATS, and this one is in PostgreSQL",
  "‹unsyncedbytes› bytes are not on disk yet; try again later":
    "33554432 bytes are not on disk yet; try again later",
  "‹used› (‹counted›‹contents›)":
    'operation id "7f3c" was already used for add mail (3 items, with other contents)',
  "‹what› for NATS cannot be read: ‹message›": "./nats.creds for NATS cannot be read: ENOENT",
  "‹what› needs Sluice ‹needs› or newer (feature level ‹level›); this is ‹version› (level ‹feature_level›)":
    "the log needs Sluice 0.2 or newer (feature level 9); this is 0.1.0 (level 8)",
  "‹what› needs feature level ‹level›, and the cluster is at ‹level›: upgrade ‹nodes› to Sluice ‹level› or newer":
    "an ordered queue needs feature level 4, and the cluster is at 3: upgrade the nodes a, b to Sluice 0.1 or newer",
  "‹what› needs ‹names›: npm install ‹names›":
    "sluice serve needs @sluice/server: npm install @sluice/server",
  "webhook ‹id›: ‹stopped›":
    "webhook wh_4f2a91c07d3e: the key that made it, c7qa, was revoked or has expired",
  "‹what›: ‹todo›":
    "the outbox in this database has version 1, and this release needs 2: run `sluice postgres install`",
};
