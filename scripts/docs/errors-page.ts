// The reference of the errors: each code with its meaning, what to do, and all its messages.

import { dirname, join } from "node:path";
import { ERROR_CODES, SluiceError } from "@sluice/protocol";
import { ERROR_GUIDE } from "./error-guide.ts";
import { errorMessages, type Message } from "./error-messages.ts";

const HEAD = `# Errors

<!-- Made by \`npm run docs\` from the catalogue and the sources. Do not edit. -->

Errors of Sluice are \`SluiceError\`s with a stable \`code\`. Match the code, not the message. Over HTTP
the answer is \`{ error: { code, message, retryAfterMs?, details? } }\` with the status of the code. *Retry*
says whether the same call may succeed later; \`error.isRetryable\` says it in a program.

A job that fails rejects \`job.finished()\` with \`JobFailed\` (code \`JOB_FAILED\`), which has the job's
\`id\`, \`queue\`, \`state\` and the \`reason\`.

Below each code are its messages, with sample values. A message says what happened, with which value, and what
to do, unless the code says it all. A word in capitals, such as FIELD or VALUE, stands for what the call gave.
`;

export function errorsPage(): string {
  const messages = errorMessages(join(dirname(import.meta.dirname), ".."));
  const rows = ERROR_CODES.map((code) => {
    const { status, isRetryable } = new SluiceError(code, "");
    return `| [\`${code}\`](#${code.toLowerCase()}) | ${status} | ${isRetryable ? "yes" : "no"} |`;
  });
  const sections = ERROR_CODES.map((code) =>
    section(
      code,
      messages.filter((message) => message.code === code),
    ),
  );
  return [HEAD, "| code | HTTP | retry |", "|---|---|---|", ...rows, "", ...sections].join("\n");
}

function section(code: (typeof ERROR_CODES)[number], messages: readonly Message[]): string {
  const [meaning, action] = ERROR_GUIDE[code];
  const list = messages.map(({ text }) => `- ${inline(text)}`);
  return [`## ${code}`, "", `${meaning}\n`, `**What to do:** ${action}\n`, ...list, ""].join("\n");
}

/** As code, so that no sign in it means something to Markdown or to the site. */
function inline(text: string): string {
  const line = text.replaceAll("\n", " ");
  const fence = line.includes("`") ? "``" : "`";
  return `${fence}${fence.length > 1 ? " " : ""}${line}${fence.length > 1 ? " " : ""}${fence}`;
}
