// A call of the HTTP API: `call(address, "POST /v1/ack", { items })`.

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers.
  readonly body: any;
}

export async function call(
  address: string,
  line: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [method = "GET", path = "/"] = line.split(" ");
  const json: Record<string, string> =
    body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}
