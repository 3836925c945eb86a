// Bundled for a browser. A Node with a WebSocket of its own can run it too.
import { Sluice, SluiceError } from "sluice/client";

export async function follow(url, id) {
  const sluice = await Sluice.connect(url);
  try {
    return await sluice.why(id);
  } catch (error) {
    return error instanceof SluiceError ? error.code : "";
  } finally {
    await sluice.close();
  }
}
