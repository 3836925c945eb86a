/** The longest time that a timer of JavaScript can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Keeps the process running, as an open socket would, until the answer is called: whoever waits for
 * jobs in a process of its own must not have it end under its feet.
 */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, LONGEST_MS);
  return () => clearInterval(timer);
}
