import { loadForAccounts } from "../gateway/configuration.ts";
import type { ServerSettings } from "../kit/index.ts";
import { configFile, EXIT, ExitError } from "./options.ts";

export interface RollbackOptions {
  readonly config?: string;
  readonly admin?: string;
  readonly adminToken?: string;
  readonly json?: boolean;
}

/** Asks a running gateway to return to a former generation. @throws ExitError */
export async function rollback(to: string | number, options: RollbackOptions): Promise<void> {
  const { address, token } = await adminOf(options);
  const result = await ask(`${address}/admin/rollback`, token, to);
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  if (!result.ok) throw new ExitError(EXIT.findings, result.diagnostics.map(({ message }) => message).join("\n"));
  if (!options.json) process.stdout.write(`${result.hash} serves\n`);
}

/** Longer than workers take to read a configuration and to set its plugins up. */
const TIMEOUT_MS = 40_000;

type Result =
  | { readonly ok: true; readonly hash: string }
  | { readonly ok: false; readonly diagnostics: readonly { readonly message: string }[] };

/** Where its admin listener is: as told, else as the configuration says. */
async function adminOf({ config, admin, adminToken }: RollbackOptions): Promise<{ address: string; token: string }> {
  // An empty variable is one that is not set.
  const token = adminToken ?? (process.env["GATEWAY_ADMIN_TOKEN"] || undefined);
  if (admin !== undefined && token !== undefined) return { address: admin.replace(/\/+$/, ""), token };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { loaded } = await loadForAccounts({ file: configFile(config), env: process.env, log }, "/server/admin/");
  const configured = loaded.snapshot.server.admin;
  if (configured === null)
    throw new ExitError(EXIT.usage, "the configuration has no server.admin; name it with --admin");
  const { host, port, tls } = configured;
  const own = `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { address: admin?.replace(/\/+$/, "") ?? own, token: token ?? operatorTokenOf(configured) };
}

/** @throws ExitError that says how to give one. */
function operatorTokenOf({ tokens }: NonNullable<ServerSettings["admin"]>): string {
  const found = tokens.find(({ role, token }) => role === "operator" && !token.empty);
  if (found) return found.token.reveal();
  const why = "server.admin.token of the configuration is empty";
  throw new ExitError(EXIT.usage, `no admin token: give it with --admin-token or GATEWAY_ADMIN_TOKEN (${why})`);
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: "does not take the token: give another with --admin-token or GATEWAY_ADMIN_TOKEN",
  403: "does not let this token change anything: give an operator's with --admin-token or GATEWAY_ADMIN_TOKEN",
  404: "is no admin listener (name it with --admin), or that gateway has no admin token (set server.admin.token)",
};

async function ask(url: string, token: string, to: string | number): Promise<Result> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "x-gateway-client": "cli" },
      body: JSON.stringify({ to }),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    const reason = cause instanceof Error ? cause.message : String(error);
    throw new ExitError(EXIT.failed, `no gateway answers at ${url}: ${reason}; name its admin listener with --admin`);
  }
  if (response.status === 200 || response.status === 422) return (await response.json()) as Result;
  const remedy = REMEDIES[response.status];
  if (remedy !== undefined) throw new ExitError(EXIT.failed, `${url} ${remedy}`);
  throw new ExitError(EXIT.failed, `${url} answers with status ${response.status}: ${await response.text()}`);
}
