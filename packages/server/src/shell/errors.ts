/** The one place where what went wrong becomes an answer. */
import { plain, SluiceError, shown, toSluiceError, unknownField } from "@sluice/protocol";
import type { FastifyError, FastifyReply } from "fastify";
import { SHOWN_CHARS_MAX } from "../limits.ts";

export interface ErrorBody {
  error: ReturnType<SluiceError["toJSON"]>;
}

/** What the web server itself refuses, in the words of the catalogue. */
const FRAMEWORK: Readonly<Record<string, "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA" | "INVALID">> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA",
};

const JSON_WANTED = "a body is JSON here: say so with content-type: application/json";

export function toAnswer(error: unknown): SluiceError {
  if (error instanceof SluiceError) return withoutPath(error);
  const { validation, code, statusCode, message } = error as Partial<FastifyError>;
  if (validation !== undefined) return ofValidation(error as FastifyError);
  const known = FRAMEWORK[code ?? ""];
  if (known === "UNSUPPORTED_MEDIA") return new SluiceError(known, JSON_WANTED);
  if (known !== undefined) return new SluiceError(known, message ?? known);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new SluiceError("INVALID", message ?? "the request cannot be read");
  }
  return toSluiceError(error);
}

/** What is wrong with the files of the server is for its operator: callers learn no paths. */
function withoutPath(error: SluiceError): SluiceError {
  const { path, file } = error.details;
  if (!error.code.startsWith("LOG_") || (path === undefined && file === undefined)) return error;
  const message = "the server cannot use its log; it has written more about this to its own output";
  return new SluiceError(error.code, message, {}, { cause: error });
}

/** An error for a stream. The text of an unexpected one stays in the server's own output. */
export function toStreamError(error: unknown): SluiceError {
  const known = withoutPath(toSluiceError(error));
  if (error instanceof SluiceError || known.code !== "INTERNAL") return known;
  process.emitWarning(known.cause instanceof Error ? known.cause : known);
  return new SluiceError("INTERNAL", "internal error; see the output of the server");
}

/** What ajv says of a value, with the value itself when verbose. */
interface Mistake {
  instancePath?: string;
  message?: string;
  params?: Record<string, unknown>;
  data?: unknown;
  parentSchema?: { readonly properties?: object };
}

function ofValidation({ validation, validationContext }: FastifyError): SluiceError {
  const {
    instancePath = "",
    message = "is wrong",
    params = {},
    data,
    parentSchema,
  }: Mistake = validation?.[0] ?? {};
  const at = `${validationContext ?? "body"}${instancePath.replaceAll("/", ".")}`;
  const { additionalProperty, missingProperty: missing, allowedValues } = params;
  const known = Object.keys(parentSchema?.properties ?? {});
  // A misspelt field is also a missing one: its own name says more.
  const extra = missing === undefined ? additionalProperty : strangerIn(data, known);
  if (typeof extra === "string") {
    const field = `${at}.${extra.slice(0, SHOWN_CHARS_MAX)}`;
    return unknownField(field, known, (data as Record<string, unknown>)[extra]);
  }
  if (typeof missing === "string") {
    const field = `${at}.${missing}`;
    return new SluiceError("INVALID", `${field} is missing`, { field });
  }
  const choices = Array.isArray(allowedValues) ? `: ${allowedValues.join(", ")}` : "";
  const text = `${at} ${message}${choices}, got ${shown(data)}`;
  const isLong = typeof data === "string" && data.length > SHOWN_CHARS_MAX;
  return new SluiceError("INVALID", text, { field: at, value: isLong ? shown(data) : plain(data) });
}

function strangerIn(data: unknown, known: readonly string[]): string | undefined {
  return Object.keys(data as object).find((name) => !known.includes(name));
}

export function bodyOf(error: SluiceError): ErrorBody {
  return { error: error.toJSON() };
}

/** Whole seconds, as the header wants; the exact time is in the body. */
export function sendError(reply: FastifyReply, error: SluiceError): FastifyReply {
  const { retryAfterMs } = error;
  if (retryAfterMs !== undefined) {
    reply.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  }
  if (error.code === "UNAUTHORIZED") reply.header("www-authenticate", "Bearer");
  return reply.code(error.status).send(bodyOf(error));
}
