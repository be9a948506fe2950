import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A certificate and its key, as PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions {
  readonly name?: string;
  /** Host names and IPv4 addresses; localhost and 127.0.0.1 unless given. */
  readonly hosts?: readonly string[];
  /** Self-signed unless given. */
  readonly issuer?: Identity & { readonly name: string };
  readonly from?: Date;
  readonly to?: Date;
}

const DAY_MS = 86_400_000;

/** An authority that signs certificates, made anew: Node has no way to make one, so the few fields are written here (RFC 5280). */
export function authority(name = "test authority"): Identity & { readonly name: string } {
  return { ...certificate({ name, hosts: [] }), name };
}

/** A certificate on a P-256 key; without an issuer it signs itself, and may sign others. */
export function certificate({
  name = "localhost",
  hosts = ["localhost", "127.0.0.1"],
  issuer,
  from = new Date(Date.now() - DAY_MS),
  to = new Date(Date.now() + 365 * DAY_MS),
}: CertificateOptions = {}): Identity {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer: KeyObject = issuer ? createPrivateKey(issuer.key) : privateKey;
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const extensions = [
    ...(issuer ? [] : [extension("551d13", sequence(tagged(0x01, Buffer.from([0xff]))), true)]),
    ...(hosts.length > 0 ? [extension("551d11", sequence(...hosts.map(alternativeName)))] : []),
  ];
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time(from), time(to)),
    distinguishedName(name),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, signer)]));
  const base64 = sequence(body, algorithm, signature).toString("base64").replaceAll(/.{64}/g, "$&\n").trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
  };
}

function tagged(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [tagged(0x01, Buffer.from([0xff]))] : []), tagged(0x04, value));
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(commonName)))));
}

function alternativeName(host: string): Buffer {
  const isAddress = /^[\d.]+$/.test(host);
  return isAddress ? tagged(0x87, Buffer.from(host.split(".").map(Number))) : tagged(0x82, Buffer.from(host));
}

function time(date: Date): Buffer {
  return tagged(0x18, Buffer.from(date.toISOString().replaceAll(/[-:T]|\.\d{3}/g, "")));
}
