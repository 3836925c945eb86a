/** Calls of the server that served this page. The browser sends the cookie of the login along. */

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The field that was refused, if it was one. */
  readonly field: string | undefined;

  constructor(status: number, code: string, message: string, field?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface CallOptions {
  body?: unknown;
  key?: string;
  signal?: AbortSignal;
}

export async function call<T>(
  method: Method,
  address: string,
  { body, key, signal }: CallOptions = {},
): Promise<T> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  const response = await send(address, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
  throw errorOf(response.status, text);
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...init, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, "UNREACHABLE", "the server cannot be reached");
  }
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text);
    const { field } = error.details ?? {};
    const named = typeof field === "string" ? field : undefined;
    return new ApiError(status, String(error.code), String(error.message), named);
  } catch {
    return new ApiError(status, "UNREADABLE", `the server answered ${status}`);
  }
}

export const get = <T>(address: string, signal?: AbortSignal): Promise<T> =>
  call<T>("GET", address, signal === undefined ? {} : { signal });

type Query = Readonly<Record<string, string | number | undefined>>;

/**
 * An address of the API: each part is encoded, empty values are left out. It begins where the page
 * is, which may be below a path of another server.
 */
export function at(parts: readonly string[], query: Query = {}): string {
  const path = ["v1", ...parts.map(encodeURIComponent)].join("/");
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
}
