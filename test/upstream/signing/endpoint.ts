import { generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const PAIR = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PRIVATE_KEY = PAIR.privateKey.export({ type: "pkcs8", format: "pem" });

/** One request to the endpoint: its form, and what its assertion claims once the signature has been checked. */
export interface TokenRequest {
  readonly form: URLSearchParams;
  readonly algorithm: unknown;
  /** null: the signature is not that of the account's key. */
  readonly claims: Readonly<Record<string, unknown>> | null;
}

export type TokenAnswer = (response: ServerResponse, request: TokenRequest, index: number) => void;

export interface TokenEndpoint {
  readonly url: string;
  readonly requests: TokenRequest[];
  /** Resolves when that many requests have come. */
  readonly came: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Where a service account's assertions are exchanged for access tokens. */
export async function startTokenEndpoint(answer: TokenAnswer): Promise<TokenEndpoint> {
  const requests: TokenRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const one = await read(request);
    requests.push(one);
    answer(response, one, requests.length);
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    requests,
    came: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve });
          }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<TokenRequest> {
  const form = new URLSearchParams(await text(request));
  const [head = "", payload = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  const good = verify("sha256", Buffer.from(`${head}.${payload}`), PAIR.publicKey, Buffer.from(signature, "base64url"));
  return { form, algorithm: parsed(head)["alg"], claims: good ? parsed(payload) : null };
}

function parsed(part: string): Record<string, unknown> {
  return part === "" ? {} : (JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>);
}

export function issue(response: ServerResponse, token: string, expiresIn = 3600): void {
  respond(response, 200, { access_token: token, expires_in: expiresIn, token_type: "Bearer" });
}

export function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** The text of a service account's key file. */
export function serviceAccount(tokenUri: string, changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(
    {
      type: "service_account",
      project_id: "p1",
      private_key_id: "k1",
      private_key: PRIVATE_KEY,
      client_email: "gateway@p1.iam.gserviceaccount.com",
      client_id: "1",
      token_uri: tokenUri,
      ...changes,
    },
    null,
    2,
  );
}
