import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

export interface Certificate {
  cert: string;
  key: string;
}

/** Makes certificates with OpenSSL, in a directory that goes with the test. */
export class Certificates {
  readonly #dir: string;
  #serial = 1;

  constructor(t: TestContext) {
    this.#dir = mkdtempSync(join(tmpdir(), "sluice-tls-"));
    t.after(() => rmSync(this.#dir, { recursive: true, force: true }));
  }

  authority(name: string): Certificate {
    const files = this.#files(name);
    const days = ["-days", "2"];
    this.#openssl("req", "-x509", ...this.#newKey(files), ...days, "-subj", `/CN=${name}`);
    return this.#read(files);
  }

  /** For 127.0.0.1 and localhost, or others, signed by an authority made here. */
  signed(
    name: string,
    authority: string,
    { isExpired = false, names = "IP:127.0.0.1,DNS:localhost" } = {},
  ): Certificate {
    const files = this.#files(name);
    const request = join(this.#dir, `${name}.csr`);
    const extensions = join(this.#dir, `${name}.ext`);
    writeFileSync(extensions, `subjectAltName=${names}\n`);
    this.#openssl("req", ...this.#newKey({ ...files, cert: request }), "-subj", `/CN=${name}`);
    const by = this.#files(authority);
    const dates = ["-days", isExpired ? "-1" : "2"];
    this.#openssl(
      ...["x509", "-req", "-in", request, "-out", files.cert, "-extfile", extensions],
      ...["-CA", by.cert, "-CAkey", by.key, "-set_serial", String(this.#serial++), ...dates],
    );
    return this.#read(files);
  }

  #newKey({ cert, key }: Certificate): string[] {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    return [...curve, "-keyout", key, "-out", cert];
  }

  #files(name: string): Certificate {
    return { cert: join(this.#dir, `${name}.pem`), key: join(this.#dir, `${name}.key`) };
  }

  #read({ cert, key }: Certificate): Certificate {
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  }

  #openssl(...args: string[]): void {
    try {
      execFileSync("openssl", args, { stdio: "pipe" });
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT") throw error;
      throw new Error("the program openssl is missing: install it to test TLS", { cause: error });
    }
  }
}
