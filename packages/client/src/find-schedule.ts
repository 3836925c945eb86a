import { type Broker, type CallOptions, type ScheduleInfo, SluiceError } from "@sluice/protocol";

/** The one schedule of a name; its queue need not be known. */
export async function findSchedule(
  port: Broker,
  name: string,
  queue: string | undefined,
  call: CallOptions | undefined,
): Promise<ScheduleInfo> {
  if (queue !== undefined) return port.schedule(queue, name, call);
  const { items } = await port.schedules({ name, limit: 2, ...call });
  const [found, other] = items;
  if (found === undefined) {
    const message = `there is no schedule ${JSON.stringify(name)}`;
    throw new SluiceError("SCHEDULE_NOT_FOUND", message, { field: "schedule", value: name });
  }
  if (other === undefined) return found;
  const message =
    `the queues ${found.queue} and ${other.queue} both have a schedule ${JSON.stringify(name)}:` +
    " name the queue";
  throw new SluiceError("CONFLICT", message, { field: "queue", value: undefined });
}
