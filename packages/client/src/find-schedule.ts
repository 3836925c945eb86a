import { type Broker, type CallOptions, type ScheduleInfo, SluiceError } from "@sluice/protocol";

/** The one schedule of a name; its queue need not be known. */
export async function findSchedule(
  port: Broker,
  name: string,
  queue: string | undefined,
  call: CallOptions | undefined,
): Promise<ScheduleInfo> {
  if (queue !== undefined) {
    return port.schedule(queue, name, call).catch((error: SluiceError) => {
      throw error.code === "SCHEDULE_NOT_FOUND" ? notFound(name, ` in queue ${queue}`) : error;
    });
  }
  const { items } = await port.schedules({ name, limit: 2, ...call });
  const [found, other] = items;
  if (found === undefined) throw notFound(name, "");
  if (other === undefined) return found;
  const message =
    `the queues ${found.queue} and ${other.queue} both have a schedule ${JSON.stringify(name)}:` +
    " name the queue";
  throw new SluiceError("CONFLICT", message, { field: "queue", value: undefined });
}

/** The caller may have wanted to make one, with an option that was forgotten or misspelt. */
function notFound(name: string, where: string): SluiceError {
  const message =
    `there is no schedule ${JSON.stringify(name)}${where}; ` +
    "to make it, give a queue and one of cron, every and at";
  return new SluiceError("SCHEDULE_NOT_FOUND", message, { field: "schedule", value: name });
}
