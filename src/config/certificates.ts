import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

/** What is wrong with the PEM file of a setting; the message quotes nothing of it. */
export interface PemFault {
  readonly part: "cert" | "key" | "ca";
  readonly message: string;
  readonly hint: string | null;
}

/** PEM texts of a certificate chain and its private key. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN ((?:[A-Z]+ )*)PRIVATE KEY-----[\s\S]*?-----END \1PRIVATE KEY-----/;
const DAY_MS = 86_400_000;

/** Why a certificate chain and a private key cannot be used together; null: they can. */
export function pairFault({ cert, key }: KeyPair): PemFault | null {
  const chain = certificatesIn(cert);
  if (typeof chain === "string") return { part: "cert", message: chain, hint: certificateHint(cert) };
  const fault = keyFault(key);
  if (fault !== null) return { part: "key", ...fault };
  const privateKey = createPrivateKey(PRIVATE_KEY.exec(key)![0]);
  if (!chain[0]!.checkPrivateKey(privateKey)) {
    const isLater = chain.some((one) => one.checkPrivateKey(privateKey));
    return isLater
      ? { part: "cert", message: "does not begin with the certificate of the key", hint: "put that certificate first" }
      : { part: "key", message: "does not belong to the certificate", hint: "name the key that it was issued for" };
  }
  return refusal("cert", { cert, key });
}

/** Why a file cannot be a list of authorities; null: it can. */
export function authorityFault(pem: string): PemFault | null {
  const found = certificatesIn(pem);
  if (typeof found === "string") return { part: "ca", message: found, hint: certificateHint(pem) };
  return refusal("ca", { ca: pem });
}

/** What OpenSSL does not take, such as a key that is too short. */
function refusal(part: PemFault["part"], options: Parameters<typeof createSecureContext>[0]): PemFault | null {
  try {
    createSecureContext(options);
    return null;
  } catch (error) {
    const { reason } = error as { readonly reason?: unknown };
    const why = typeof reason === "string" ? `: ${reason}` : "";
    return { part, message: `cannot be used for TLS${why}`, hint: null };
  }
}

/** The certificates of a PEM text in their order, or what is wrong with it. */
function certificatesIn(pem: string): readonly X509Certificate[] | string {
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    if (pem.trim() === "") return "is empty";
    return PRIVATE_KEY.test(pem) ? "holds a private key and no certificate" : "holds no certificate in PEM";
  }
  const found: X509Certificate[] = [];
  for (const [index, block] of blocks.entries()) {
    try {
      found.push(new X509Certificate(block));
    } catch {
      return blocks.length === 1 ? "holds a damaged certificate" : `holds a damaged certificate (number ${index + 1})`;
    }
  }
  return found;
}

function certificateHint(pem: string): string | null {
  if (PRIVATE_KEY.test(pem)) return "the certificate and its key may have been exchanged";
  return pem.includes("-----BEGIN") || pem.trim() === ""
    ? "write a file that begins with -----BEGIN CERTIFICATE-----"
    : "convert it: openssl x509 -inform der -in FILE -out FILE.pem";
}

function keyFault(pem: string): Pick<PemFault, "message" | "hint"> | null {
  const [block] = PRIVATE_KEY.exec(pem) ?? [];
  if (block === undefined) {
    if (pem.trim() === "")
      return { message: "is empty", hint: "write a file that begins with -----BEGIN PRIVATE KEY-----" };
    return pem.includes("-----BEGIN CERTIFICATE-----")
      ? {
          message: "holds a certificate and no private key",
          hint: "the certificate and its key may have been exchanged",
        }
      : { message: "holds no private key in PEM", hint: "write a file that begins with -----BEGIN PRIVATE KEY-----" };
  }
  if (/ENCRYPTED/.test(block)) {
    return {
      message: "is encrypted, and there is no passphrase",
      hint: "decrypt it: openssl pkey -in FILE -out FILE.key",
    };
  }
  try {
    createPrivateKey(block);
    return null;
  } catch {
    return { message: "holds a damaged private key", hint: null };
  }
}

/** How the certificates of a PEM text stand in time: what a person has to know of it; null: nothing. @param now Unix milliseconds */
export function expiryNotice(pem: string, now: number): string | null {
  const found = certificatesIn(pem);
  for (const one of typeof found === "string" ? [] : found) {
    const [from, to] = [Date.parse(one.validFrom), Date.parse(one.validTo)];
    if (to < now) return `expired on ${dateOf(to)}`;
    if (from > now) return `is not valid before ${dateOf(from)}`;
    if (to - now < 7 * DAY_MS) return `expires on ${dateOf(to)}`;
  }
  return null;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
