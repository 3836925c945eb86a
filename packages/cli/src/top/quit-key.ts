/** Ends `top` when q is pressed. A terminal in raw mode sends Ctrl-C as a key too. */
const QUIT: readonly string[] = ["q", "Q", "\x03"];

/** The part of a terminal's input that is used here. */
interface Keyboard {
  readonly isTTY?: boolean | undefined;
  setRawMode(isRaw: boolean): unknown;
  on(event: "data", listener: (keys: string | Uint8Array) => void): unknown;
  off(event: "data", listener: (keys: string | Uint8Array) => void): unknown;
  pause(): unknown;
}

export interface QuitKey extends Disposable {
  readonly signal: AbortSignal;
}

export function quitKey(input: unknown, stop: AbortSignal): QuitKey {
  const keyboard = input as Keyboard | undefined;
  if (keyboard?.isTTY !== true) return { signal: stop, [Symbol.dispose]: () => {} };
  const pressed = new AbortController();
  const listen = (keys: string | Uint8Array): void => {
    const text = typeof keys === "string" ? keys : new TextDecoder().decode(keys);
    if (QUIT.some((key) => text.includes(key))) pressed.abort();
  };
  keyboard.setRawMode(true);
  keyboard.on("data", listen);
  return {
    signal: AbortSignal.any([stop, pressed.signal]),
    [Symbol.dispose]: () => {
      keyboard.off("data", listen);
      keyboard.setRawMode(false);
      keyboard.pause();
    },
  };
}
