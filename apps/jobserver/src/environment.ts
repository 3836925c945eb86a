/** Reads variables one by one; a bad value is an error that names the variable and the value. */

export type Environment = Readonly<Record<string, string | undefined>>;

export class BadVariable extends Error {
  override readonly name = "BadVariable";
  readonly variable: string;

  constructor(variable: string, wanted: string, value: string) {
    super(`${variable} must be ${wanted}, got ${JSON.stringify(value)}`);
    this.variable = variable;
  }
}

/** An empty variable is as good as none: that is how shells and compose files switch one off. */
export function textOf(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

export function flagOf(env: Environment, name: string, absent: boolean): boolean {
  const value = textOf(env, name);
  if (value === undefined) return absent;
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  if (/^(false|0|no|off)$/i.test(value)) return false;
  throw new BadVariable(name, "true or false", value);
}

export function wholeOf(
  env: Environment,
  name: string,
  absent: number,
  min: number,
  max: number,
): number {
  const value = textOf(env, name);
  if (value === undefined) return absent;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new BadVariable(name, `a whole number from ${min} to ${max}`, value);
}

export function shareOf(env: Environment, name: string, absent: number): number {
  const value = textOf(env, name);
  if (value === undefined) return absent;
  const number = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new BadVariable(name, "a number from 0 to 1", value);
}

export function choiceOf<Choice extends string>(
  env: Environment,
  name: string,
  absent: Choice,
  choices: readonly Choice[],
): Choice {
  const value = textOf(env, name);
  if (value === undefined) return absent;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new BadVariable(name, choices.join(" or "), value);
}

/** `name:number,name:number`, each name once. */
export function pairsOf(
  env: Environment,
  name: string,
  max: number,
): (readonly [name: string, count: number])[] | undefined {
  const value = textOf(env, name);
  if (value === undefined) return undefined;
  const seen = new Set<string>();
  return value.split(",").map((pair) => {
    const [, key, digits] = /^\s*([A-Za-z0-9._-]{1,64})\s*:\s*(\d+)\s*$/.exec(pair) ?? [];
    const count = Number(digits);
    if (key === undefined || count < 1 || count > max || seen.has(key)) {
      throw new BadVariable(name, `name:number,name:number with each name once`, value);
    }
    seen.add(key);
    return [key, count] as const;
  });
}

export function listOf(env: Environment, name: string): readonly string[] | undefined {
  const value = textOf(env, name);
  const items = value?.split(",").map((item) => item.trim());
  if (items?.some((item) => item === "")) {
    throw new BadVariable(name, "names with commas between them", value ?? "");
  }
  return items;
}

/** `127.0.0.1:8080`, `[::1]:8080`, `:8080` (loopback). */
export function addressOf(
  env: Environment,
  name: string,
  absent: { host: string; port: number },
): { host: string; port: number } {
  const value = textOf(env, name);
  if (value === undefined) return absent;
  const [, six, four, digits] =
    /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]/\s]*)):(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    throw new BadVariable(name, "host:port", value);
  }
  return { host: six ?? (four || absent.host), port };
}
