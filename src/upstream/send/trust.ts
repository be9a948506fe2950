import { hash } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { UpstreamTls } from "../../kit/index.ts";

/** What tells one `tls` setting from another: a digest of its files' texts; empty without any. */
export function fingerprintOf(tls: UpstreamTls | undefined): string {
  if (tls === undefined) return "";
  const texts = [tls.ca, tls.cert, tls.key].map((file) => file?.text.reveal() ?? null);
  return hash("sha256", JSON.stringify(texts), "hex");
}

/**
 * The contexts of upstreams' TLS connections. Each costs some 10 ms and a list of all authorities: upstreams with the same
 * files share one, which is let go of with the last pool that uses it.
 */
export class SecureContexts {
  readonly #known = new Map<string, WeakRef<SecureContext>>();

  of(tls: UpstreamTls): SecureContext {
    const fingerprint = fingerprintOf(tls);
    const context = this.#known.get(fingerprint)?.deref() ?? contextOf(tls);
    this.#known.set(fingerprint, new WeakRef(context));
    for (const [other, known] of this.#known) if (known.deref() === undefined) this.#known.delete(other);
    return context;
  }
}

/** The authorities stand beside those of Node, of NODE_EXTRA_CA_CERTS and of the system, where Node is told to use it. */
function contextOf({ ca, cert, key }: UpstreamTls): SecureContext {
  return createSecureContext({
    ...(ca && { ca: [...getCACertificates("default"), ca.text.reveal()] }),
    ...(cert && key && { cert: cert.text.reveal(), key: key.text.reveal() }),
  });
}
