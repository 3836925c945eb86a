/** The certificate of a server is signed by an authority that is not known here. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const OTHERS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; start one with `sluice serve`, or check the address",
  CERT_HAS_EXPIRED: "the certificate of the server has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate of the server is for another host name",
};

const ALERTS: readonly (readonly [RegExp, string])[] = [
  [
    /alert.*(certificate required|handshake failure)/i,
    "the server demands a certificate: give tls.cert and tls.key (--cert and --cert-key FILE)",
  ],
  [
    /alert.*(bad certificate|unknown ca|certificate (unknown|expired|revoked))/i,
    "the server does not accept this certificate: check tls.cert (--cert FILE)",
  ],
  [/wrong version number/i, "it does not speak TLS: use http:// or ws://"],
];

/**
 * Why a connection could not be made, and what to do. OpenSSL names its alerts in a line of its
 * own: the words after "alert" are those of the TLS standard.
 */
export function connectProblem(error: NodeJS.ErrnoException): string {
  const code = error.code ?? "";
  if (UNKNOWN_AUTHORITY.has(code)) {
    return "its certificate is signed by an unknown authority: name it with tls.ca (--ca FILE)";
  }
  if (OTHERS[code] !== undefined) return OTHERS[code];
  return ALERTS.find(([alert]) => alert.test(error.message))?.[1] ?? error.message;
}
