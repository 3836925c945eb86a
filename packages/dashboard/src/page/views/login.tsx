import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../data/api.ts";

/** The key goes to the server once, which puts it into a cookie that no script can read. */
export function Login({ onIn }: { onIn(): void }): JSX.Element {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget as HTMLFormElement).get("key")).trim();
    setBusy(true);
    try {
      await call("POST", at(["session"]), { key });
      onIn();
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : "refused");
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form onSubmit={submit}>
        <h1>Sluice</h1>
        <label class="field">
          <span>API key</span>
          <input name="key" type="password" autocomplete="current-password" required />
        </label>
        <p class="refusal" role="alert">
          {error}
        </p>
        <button type="submit" class="primary" disabled={isBusy}>
          Log in
        </button>
        <p class="muted">
          An API key of this server: the one that it printed at its first start, one made by{" "}
          <code>sluice keys create</code>, or the one in its settings.
        </p>
      </form>
    </main>
  );
}
