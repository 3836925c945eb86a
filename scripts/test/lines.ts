// Cuts a stream of text into whole lines; what follows the last line end waits for the next part.

export function lineSplitter(onLine: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
}
