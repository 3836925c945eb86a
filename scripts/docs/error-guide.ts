// What each code of the error catalogue means, and what a caller does about it.

import type { ErrorCode } from "@sluice/protocol";

/** A code that is missing here does not compile. */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, readonly [meaning: string, action: string]>> =
  {
    INVALID: [
      "An argument or option is not allowed. The message names the field and the value.",
      "Correct the value. Repeating the call does not help.",
    ],
    UNAUTHORIZED: [
      "The server needs an API key, and the call has none or an invalid one.",
      "Pass `apiKey`, or `--key` on the command line. A key can have expired or been revoked.",
    ],
    FORBIDDEN: [
      "The key may not do this.",
      "Use another key, or change its grants with `sluice keys set`. `sluice.queue(name)` needs `admin` if it makes or changes the queue.",
    ],
    QUEUE_NOT_FOUND: [
      "There is no queue of that name.",
      "Create it: `sluice.queue(name)` or `PUT /v1/queues/:queue`. Check the name for a typing error.",
    ],
    JOB_NOT_FOUND: [
      "There is no job of that id. It was never issued, it has ended and is no longer kept, or the key may not see it.",
      "Keep ended jobs longer with `results: { jobs, ttl }` on the queue.",
    ],
    GATE_NOT_FOUND: ["The gate has no limits and no job has named it.", "Check the key."],
    GROUP_NOT_FOUND: [
      "No job of that group is known.",
      "Check the name: a group of another queue is `queue/name`.",
    ],
    SCHEDULE_NOT_FOUND: ["There is no schedule of that name.", "`sluice schedule list` shows all."],
    NOT_FOUND: [
      "There is no such call, key, entry or page.",
      "Check the address. `/openapi.json` lists all routes.",
    ],
    ALREADY_FINISHED: [
      "The job has ended before this answer arrived.",
      "Nothing to do: the first end counts.",
    ],
    LEASE_LOST: [
      "The lease of this delivery is over, so the job may run elsewhere by now.",
      "Stop working on it. Raise `lease` if handlers block the event loop for long.",
    ],
    CONFLICT: [
      "The call contradicts something that exists, such as an operation id that was used for another call.",
      "Use a new operation id for a new call.",
    ],
    SUSPENDED: [
      "The handler's run has ended because the job waits for a step. It holds no worker meanwhile.",
      "Nothing to do: the job continues in another run. Do not catch this reason of `signal`.",
    ],
    LIMIT_REACHED: [
      "A limit on the number of queues, keys, entries or steps is reached.",
      "Remove some, or raise the limit that the message names.",
    ],
    NOT_A_DLQ: [
      "The queue holds no dead letters, so there is nothing to redrive.",
      "Name the dead letter queue: usually `<queue>.dlq`.",
    ],
    PAYLOAD_TOO_LARGE: [
      "A payload, a batch or a body is larger than allowed.",
      "Put large data into an object store and its address into the job, or raise `payloadBytesMax`.",
    ],
    UNSUPPORTED_MEDIA: [
      "The server does not read this form of body, such as a compressed one.",
      "Send plain JSON with `content-type: application/json`.",
    ],
    MOVED: [
      "Another node of the cluster owns this partition now.",
      "The client follows by itself. Over HTTP, ask `GET /v1/cluster` for the owner and repeat.",
    ],
    WAIT_TOO_LONG: [
      "The job's gates would make it wait longer than its `maxWait`.",
      "Tell your user to come back later, or raise `maxWait`. The details name the gate and the wait.",
    ],
    SCHEMA: [
      "The payload or result does not match the schema of the queue.",
      "Correct the data, or the schema. The message names the field.",
    ],
    QUEUE_FULL: [
      "The queue holds as many jobs or bytes as its `capacity` allows.",
      'Try again after `retryAfter`, add workers, raise `capacity`, or set `onFull: "wait"`.',
    ],
    RATE_LIMITED: [
      "More calls or adds arrive than the server or queue accepts.",
      "Try again after `retryAfter`.",
    ],
    STORAGE_LOW: [
      "The storage of the log is nearly full. Adds are refused, acks are not.",
      "Add storage, or let workers finish jobs.",
    ],
    ABORTED: ["The caller's `signal` ended the call.", "Nothing to do."],
    INTERNAL: [
      "Sluice has a bug.",
      "Report it with the message and the server's log. The call may have taken effect.",
    ],
    LOG_FAILED: [
      "A write or sync of the log failed. This broker confirms nothing more.",
      "Look at the disk or the database, then start the broker again. Nothing that was confirmed is lost.",
    ],
    LOG_DAMAGED: [
      "The log has damage that cannot be an unfinished write. The message names file and offset.",
      "`sluice log check DIR` lists all of it; `sluice log repair DIR` writes a log that opens and keeps the originals.",
    ],
    LOG_LOCKED: [
      "Another process has this log open.",
      "End that process, or share it: run `sluice serve` and use `Sluice.connect`.",
    ],
    LOG_VERSION: [
      "A newer version of Sluice has written this log.",
      "Start that version, or restore the copy from before the upgrade.",
    ],
    UPGRADE_NEEDED: [
      "Some nodes of the cluster are too old for this call.",
      "Update the remaining nodes, then repeat the call.",
    ],
    RECOVERING: [
      "The broker still reads its log after a start.",
      "Try again. `/readyz` says when it is done.",
    ],
    CLOSED: ["The broker or the client is closed or closing.", "Open it again."],
    TIMEOUT: [
      "The call was sent and not answered in time. It may have taken effect.",
      "Repeat it with the `operationId` of the error: it takes effect once.",
    ],
    UNAVAILABLE: [
      "There was no connection while the call waited, so it was not sent and has no effect.",
      "Look at the server, then repeat the call.",
    ],
    DISCONNECTED: [
      "The server cannot be reached, or the connection broke.",
      "The client reconnects by itself. If it does not, check the address and the network.",
    ],
  };
