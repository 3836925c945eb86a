import type { JobJson } from "@sluice/protocol";
import type { JSX } from "preact";
import { at } from "../../data/api.ts";
import { FACT_CHARS } from "../../limits.ts";
import { Body } from "../../parts/body.tsx";
import { bytes, laneText } from "../../words/format.ts";
import { plainBody, pretty } from "../../words/preview.ts";
import { visible } from "../../words/visible.ts";

/** What a job carries, and what it left behind. */
export function Bodies({ job }: { job: JobJson }): JSX.Element {
  const { payload, payloadBase64, payloadBytes, error, headers } = job;
  const { result, resultBase64, resultBytes = 0 } = job;
  return (
    <div>
      {error !== undefined && (
        <Body title="Last error" text={plainBody(error)} copied={error} isBad />
      )}
      {job.stack !== undefined && (
        <Body title="Stack" text={plainBody(job.stack)} copied={job.stack} />
      )}
      <Carried
        title="Payload"
        size={payloadBytes}
        value={payload}
        base64={payloadBase64}
        start={job.payloadStart ?? job.payloadStartBase64}
        id={job.id}
      />
      {resultBytes > 0 && (
        <Carried
          title="Result"
          size={resultBytes}
          value={result}
          base64={resultBase64}
          start={job.resultStart ?? job.resultStartBase64}
          id={job.id}
        />
      )}
      {longNames(job).map(([title, text]) => (
        <Body key={title} title={title} text={text} />
      ))}
      {Object.keys(headers).length > 0 && <Body title="Headers" text={pretty(headers)} />}
    </div>
  );
}

/** Names that do not fit among the facts. */
function longNames({ fairnessKey, worker = "", group = "", dedupe = "" }: JobJson) {
  const names = [
    ["Lane", laneText(fairnessKey)],
    ["Worker", visible(worker)],
    ["Group", visible(group)],
    ["Dedupe key", visible(dedupe)],
  ] as const;
  return names.filter(([, text]) => text.length > FACT_CHARS);
}

interface CarriedProps {
  title: string;
  size: number;
  value: unknown;
  base64: string | undefined;
  start: string | undefined;
  id: string;
}

/** A long text is shown by how it begins, with a link to the whole. */
function Carried({ title, size, value, base64, start, id }: CarriedProps): JSX.Element {
  const text = start ?? base64;
  const kind = base64 === undefined ? "" : ", base64";
  const name = `${title}, ${bytes(size)}${start === undefined ? kind : ", its beginning"}`;
  const shown = text === undefined ? pretty(value) : plainBody(text);
  const copied = text ?? JSON.stringify(value, null, 2);
  return (
    <Body title={name} text={shown} copied={copied}>
      {start !== undefined && (
        <>
          {"…\n"}
          <a href={at(["jobs", id])}>all of the job, as JSON</a>
        </>
      )}
    </Body>
  );
}
