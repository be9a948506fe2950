import { type AwsCredentials, awsCredentials } from "../../dialects/bedrock/aws.ts";
import type { UpstreamDialect, UpstreamRequest } from "../../dialects/dialect.ts";
import type { Awaitable } from "../../kit/index.ts";
import { signRequest } from "./sigv4.ts";

/** Sets the region where the host does not name it; never sent. */
export const REGION_HEADER = "x-aws-region";
const REGION_OF_HOST = /\.((?:[a-z]+-)+\d+)\.(?:vpce\.)?amazonaws\.com(?:\.cn)?(?::\d+)?$/;
/** What hosts that are not Amazon's are taken to be in. */
const DEFAULT_REGION = "us-east-1";
/** Only these are signed with `host` and the signature's own: others may be changed on the way. */
const SIGNED_HEADERS: ReadonlySet<string> = new Set(["content-type", "accept"]);

export interface Sending {
  readonly dialect: Pick<UpstreamDialect, "signing">;
  /** Complete but for its signature; its body is text or none. */
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
  if (body !== null && typeof body !== "string") throw new TypeError("a streamed body cannot be signed");
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
