import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { awsCredentials } from "../../../src/dialects/bedrock/aws.ts";
import { bedrock } from "../../../src/dialects/bedrock/index.ts";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { signed, signRequest } from "../../../src/upstream/signing/aws.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { call, target } from "../support/build.ts";

interface Context {
  readonly credentials: {
    readonly access_key_id: string;
    readonly secret_access_key: string;
    readonly token?: string;
  };
  readonly region: string;
  readonly service: string;
  readonly timestamp: string;
  readonly normalize: boolean;
  readonly sign_body: boolean;
  readonly omit_session_token?: boolean;
}

const folder = sharedFixtures("aws-sigv4");
const cases =
  folder === null
    ? []
    : readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);

/** Method, path, headers and body of a request as text; headers of the same name are one. */
function parse(text: string): { method: string; path: string; headers: Record<string, string>; body: string } {
  const [head = "", ...rest] = text.split("\n\n");
  const [first = "", ...lines] = head.replaceAll(/\n\s+/g, " ").split("\n");
  const [, method = "", path = ""] = /^(\S+) (.*) HTTP\/1\.1$/.exec(first) ?? [];
  const headers: Record<string, string> = {};
  for (const line of lines.filter((one) => one !== "")) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  return { method, path, headers, body: rest.join("\n\n") };
}

describe.skipIf(folder === null)("AWS's own cases", () => {
  test.each(cases)("%s", async (name) => {
    const file = (which: string): string => readFileSync(join(folder!, name, which), "utf8");
    const context = JSON.parse(file("context.json")) as Context;
    const { method, path, headers, body } = parse(file("request.txt"));
    const { access_key_id, secret_access_key, token } = context.credentials;
    const { host = "", ...others } = headers;
    const result = await signRequest({
      method,
      host,
      // What is not normalised is signed as it is sent, and it is sent encoded.
      path: context.normalize ? path : path.replaceAll(" ", "%20"),
      headers: others,
      body,
      credentials: {
        accessKeyId: access_key_id,
        secretAccessKey: secret_access_key,
        sessionToken: context.omit_session_token ? undefined : token,
      },
      region: context.region,
      service: context.service,
      now: Date.parse(context.timestamp),
      encodePath: context.normalize,
      digest: context.sign_body,
    });
    const wanted = parse(file("header-signed-request.txt")).headers;
    expect(result["authorization"]).toBe(wanted["authorization"]);
    expect(result["x-amz-date"]).toBe(wanted["x-amz-date"]);
    expect(result["x-amz-content-sha256"]).toBe(wanted["x-amz-content-sha256"]);
    // Where the token is left out of the signature, it is added behind it.
    expect(result["x-amz-security-token"]).toBe(context.omit_session_token ? undefined : token);
  });

  test("there are 38 of them", () => {
    expect(cases).toHaveLength(38);
  });
});

describe("keys", () => {
  test.each([
    ["AKID:secret/+", { accessKeyId: "AKID", secretAccessKey: "secret/+", sessionToken: undefined }],
    ["AKID:secret:to/ken==", { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: "to/ken==" }],
    ["ABSKQmVkcm9jaw==", null],
    ["", null],
    ["AKID:", null],
    [":secret", null],
    ["AKID:secret:", null],
    ["a:b:c:d", null],
  ])("%s", (key, credentials) => {
    expect(awsCredentials(key)).toEqual(credentials);
  });
});

function scope({ headers }: UpstreamRequest): string | undefined {
  return /Credential=([^,]*)/.exec(headers["authorization"] ?? "")?.[1];
}

describe("requests of the bedrock dialect", () => {
  const KEY = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  const NOW = Date.UTC(2026, 10, 21, 12);
  const MODEL = "anthropic.claude-3-5-sonnet-20241022-v2:0";

  async function send(apiKey: string, host: string, headers: Record<string, string> = {}): Promise<UpstreamRequest> {
    const written = bedrock.codecs.chat!.request(call(), target({ model: MODEL }), apiKey);
    const request = { ...written, headers: { "user-agent": "x", ...written.headers, ...headers } };
    return signed({ dialect: bedrock, request, host, apiKey, now: NOW });
  }

  test("are signed for their host's region, service bedrock, body included", async () => {
    const { headers, path } = await send(KEY, "bedrock-runtime.eu-central-1.amazonaws.com");
    expect(path).toBe("/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse");
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "x",
      "x-amz-date": "20261121T120000Z",
      "x-amz-content-sha256": expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261121\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=accept;content-type;host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
    );
    expect(headers).not.toHaveProperty("host");
    expect(headers).not.toHaveProperty("x-amz-security-token");
  });

  test("a colon of the model's name is encoded twice in what is signed (%253A)", async () => {
    const { headers } = await send(KEY, "bedrock-runtime.us-east-1.amazonaws.com");
    const { headers: written, body } = bedrock.codecs.chat!.request(call(), target({ model: MODEL }), KEY);
    const again = {
      method: "POST",
      host: "bedrock-runtime.us-east-1.amazonaws.com",
      path: "/model/anthropic.claude-3-5-sonnet-20241022-v2%253A0/converse",
      headers: { accept: written["accept"]!, "content-type": written["content-type"]! },
      body: body as string,
      credentials: awsCredentials(KEY)!,
      region: "us-east-1",
      service: "bedrock",
      now: NOW,
      encodePath: false,
    };
    expect((await signRequest(again))["authorization"]).toBe(headers["authorization"]);
    const once = { ...again, path: again.path.replace("%25", "%") };
    expect((await signRequest(once))["authorization"]).not.toBe(headers["authorization"]);
  });

  test.each([
    ["bedrock-runtime.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
    ["bedrock-runtime-fips.us-east-2.amazonaws.com", "us-east-2"],
    ["vpce-0a1b.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com", "ap-southeast-2"],
    ["bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"],
    ["127.0.0.1:8099", "us-east-1"],
    ["bedrock.example", "us-east-1"],
  ])("region of %s: %s", async (host, region) => {
    expect(scope(await send(KEY, host))).toBe(`AKIDEXAMPLE/20261121/${region}/bedrock/aws4_request`);
  });

  test("a configured region wins and is not sent", async () => {
    const request = await send(KEY, "bedrock-runtime.us-east-1.amazonaws.com", { "x-aws-region": "eu-west-3" });
    expect(scope(request)).toBe("AKIDEXAMPLE/20261121/eu-west-3/bedrock/aws4_request");
    expect(request.headers).not.toHaveProperty("x-aws-region");
  });

  test("a session token is sent and signed", async () => {
    const { headers } = await send(`${KEY}:tok/en==`, "bedrock-runtime.us-east-1.amazonaws.com");
    expect(headers["x-amz-security-token"]).toBe("tok/en==");
    expect(headers["authorization"]).toContain(";x-amz-security-token,");
  });

  test("another key is a bearer token, nothing is signed", async () => {
    const { headers } = await send("ABSKtoken", "bedrock-runtime.us-east-1.amazonaws.com", { "x-aws-region": "r" });
    expect(headers["authorization"]).toBe("Bearer ABSKtoken");
    expect(Object.keys(headers).filter((name) => name.startsWith("x-"))).toEqual([]);
  });

  test("a probe is signed too", async () => {
    const request = await signed({
      dialect: bedrock,
      request: bedrock.probe(KEY),
      host: "bedrock-runtime.us-east-1.amazonaws.com",
      apiKey: KEY,
      now: NOW,
    });
    expect(request.path).toBe("/async-invoke?maxResults=1");
    expect(scope(request)).toBe("AKIDEXAMPLE/20261121/us-east-1/bedrock/aws4_request");
  });

  test("requests of other dialects stay as they are", () => {
    const request: UpstreamRequest = { method: "POST", path: "/x", headers: { "x-aws-region": "r" }, body: "{}" };
    expect(signed({ dialect: {}, request, host: "h", apiKey: KEY, now: NOW })).toBe(request);
  });
});
