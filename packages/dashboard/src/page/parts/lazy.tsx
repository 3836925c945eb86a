import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A view whose script is loaded when it is first shown: the first view stays small. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
): (props: P) => JSX.Element {
  let known: ComponentType<P> | undefined;
  return function Lazy(props: P): JSX.Element {
    const [View, setView] = useState(() => known);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      if (known !== undefined) return;
      load().then(
        (view) => {
          known = view;
          setView(() => view);
        },
        () => setFailed(true),
      );
    }, []);
    if (View !== undefined) return <View {...props} />;
    // Another server, with other files, has replaced the one that sent this page.
    if (hasFailed) return <p class="empty">This page could not be loaded. Reload to try again.</p>;
    return <div class="skeleton" aria-busy="true" />;
  };
}
