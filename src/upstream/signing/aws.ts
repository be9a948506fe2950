import { createHash, hash } from "node:crypto";
import { type AwsCredentials, awsCredentials } from "../../dialects/bedrock/aws.ts";
import type { StreamedBody, UpstreamDialect, UpstreamRequest } from "../../dialects/dialect.ts";
import { type Awaitable, nextTurn } from "../../kit/index.ts";

/** Sets the region where the host does not name one; never sent. */
const REGION_HEADER = "x-aws-region";
const REGION_OF_HOST = /\.((?:[a-z]+-)+\d+)\.(?:vpce\.)?amazonaws\.com(?:\.cn)?(?::\d+)?$/;
/** For hosts that name no region. */
const DEFAULT_REGION = "us-east-1";
/** Signed besides `host` and the signature's own headers: proxies may change any other header. */
const SIGNED_HEADERS: ReadonlySet<string> = new Set(["content-type", "accept"]);

export interface Sending {
  readonly dialect: Pick<UpstreamDialect, "signing">;
  /** Complete but for its signature. */
  readonly request: UpstreamRequest;
  /** Host of the upstream, with its port when that is not the protocol's own. */
  readonly host: string;
  readonly apiKey: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The request as it is sent: signed, where the dialect signs and the key is one of AWS. */
export function signed(sending: Sending): Awaitable<UpstreamRequest> {
  const { dialect, request, apiKey } = sending;
  if (dialect.signing?.by !== "aws") return request;
  const { service } = dialect.signing;
  const { [REGION_HEADER]: region, ...headers } = request.headers;
  const credentials = awsCredentials(apiKey);
  const unsigned = { ...request, headers };
  return credentials === null
    ? unsigned
    : withSignature({ ...sending, request: unsigned }, { credentials, region, service });
}

interface Signer {
  readonly credentials: AwsCredentials;
  readonly region: string | undefined;
  readonly service: string;
}

async function withSignature({ request, host, now }: Sending, { region, ...signer }: Signer): Promise<UpstreamRequest> {
  const { method, path, headers, body } = request;
  if (body !== null && typeof body !== "string" && "json" in body)
    throw new TypeError("a body is written before it is signed");
  const { host: _host, ...added } = await signRequest({
    method,
    host,
    path,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => SIGNED_HEADERS.has(name))),
    body: body ?? "",
    ...signer,
    region: region ?? REGION_OF_HOST.exec(host)?.[1] ?? DEFAULT_REGION,
    now,
  });
  return { ...request, headers: { ...headers, ...added } };
}

interface Signing {
  readonly method: string;
  /** With its port, when that is not the protocol's own. */
  readonly host: string;
  /** As it is sent, query included. */
  readonly path: string;
  /** All of them are signed, and `host` with them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | StreamedBody;
  readonly credentials: AwsCredentials;
  readonly region: string;
  readonly service: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether the path is normalised and encoded once more, as by every service but S3; left out: it is. */
  readonly encodePath?: boolean;
  /** Whether the body's digest is a header of its own, `x-amz-content-sha256`; left out: it is. */
  readonly digest?: boolean;
}

/**
 * The headers with AWS's Signature Version 4: `authorization`, `x-amz-date` and what belongs to them. Names in lower
 * case.
 */
export async function signRequest(signing: Signing): Promise<Readonly<Record<string, string>>> {
  const { method, host, path, headers, body, credentials, region, service, now } = signing;
  const { encodePath = true, digest = true } = signing;
  // Few gateways sign anything.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  const signer = new SignatureV4({
    credentials,
    region,
    service,
    sha256: Sha256,
    uriEscapePath: encodePath,
    applyChecksum: digest,
  });
  const [pathname = "", ...query] = path.split("?");
  const request = {
    method,
    protocol: "https:",
    hostname: host,
    path: pathname,
    query: parsed(query.join("?")),
    // The signer's own hashing is slow for bodies of megabytes.
    headers: { host, ...headers, ...(digest ? { "x-amz-content-sha256": await digestOf(body) } : {}) },
    // With the digest among the headers nobody reads it.
    body: typeof body === "string" ? body : "",
  };
  const signed = await signer.sign(request, { signingDate: new Date(now) });
  return Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** SHA-256 in hex; of a long body with turns of the event loop between its parts. */
async function digestOf(body: string | StreamedBody): Promise<string> {
  if (typeof body === "string") return hash("sha256", body);
  const digest = createHash("sha256");
  for await (const chunk of body.read()) {
    digest.update(chunk);
    await nextTurn();
  }
  return digest.digest("hex");
}

function parsed(query: string): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  // Only in forms is a plus a space.
  for (const [name, value] of new URLSearchParams(query.replaceAll("+", "%2B"))) (values[name] ??= []).push(value);
  return values;
}
