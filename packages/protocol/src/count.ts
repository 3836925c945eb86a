/** `1 job`, `2 jobs`, `1,500 jobs`: a number with its noun, for people. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}
