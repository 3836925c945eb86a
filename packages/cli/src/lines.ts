/** The lines of a stream, as they come; a last one without its end counts too. */
export async function* lines(
  input: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of input) {
    rest += typeof part === "string" ? part : decoder.decode(part, { stream: true });
    const found = rest.split("\n");
    rest = found.pop() ?? "";
    for (const line of found) yield line.endsWith("\r") ? line.slice(0, -1) : line;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
