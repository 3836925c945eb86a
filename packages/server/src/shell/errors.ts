/** The one place where what went wrong becomes an answer. */
import { SluiceError, toSluiceError } from "@sluice/protocol";
import type { FastifyError, FastifyReply } from "fastify";

export interface ErrorBody {
  error: ReturnType<SluiceError["toJSON"]>;
}

/** What the web server itself refuses, in the words of the catalogue. */
const FRAMEWORK: Readonly<Record<string, "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA" | "INVALID">> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA",
};

export function toAnswer(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const { validation, code, statusCode, message } = error as Partial<FastifyError>;
  if (validation !== undefined) return ofValidation(error as FastifyError);
  const known = FRAMEWORK[code ?? ""];
  if (known !== undefined) return new SluiceError(known, message ?? known);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new SluiceError("INVALID", message ?? "the request cannot be read");
  }
  return toSluiceError(error);
}

function ofValidation({ validation, validationContext }: FastifyError): SluiceError {
  const [first] = validation ?? [];
  const at = `${validationContext ?? "body"}${(first?.instancePath ?? "").replaceAll("/", ".")}`;
  const extra = first?.params?.additionalProperty;
  if (typeof extra === "string") {
    const field = `${at}.${extra.slice(0, 64)}`;
    return new SluiceError("INVALID", `${field} is not a known field`, { field });
  }
  const missing = first?.params?.missingProperty;
  const field = typeof missing === "string" ? `${at}.${missing}` : at;
  const wanted = typeof missing === "string" ? "is missing" : (first?.message ?? "is wrong");
  return new SluiceError("INVALID", `${field} ${wanted}${choices(first?.params)}`, { field });
}

function choices(params: Record<string, unknown> | undefined): string {
  const allowed = params?.allowedValues;
  return Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
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
