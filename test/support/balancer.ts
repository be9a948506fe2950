import { freePort } from "./ports.ts";
import { programOf } from "./programs.ts";
import { poll } from "../e2e/support/child.ts";
import type { Workspace } from "../e2e/support/process.ts";

/** Where a gateway behind the balancer listens. */
export interface Backend {
  readonly name: string;
  readonly port: number;
  readonly admin: number;
}

export interface Balancer {
  readonly origin: string;
  /** Resolves when the balancer has seen that a backend is ready, or is not. */
  sees(backend: Backend, up: boolean): Promise<unknown>;
}

/** HAProxy in front of gateways, which follows their readiness and tries nothing twice, so that every failure shows. */
export async function startBalancer(workspace: Workspace, backends: readonly Backend[]): Promise<Balancer> {
  const port = await freePort();
  const stats = await freePort();
  workspace.write(
    "haproxy.cfg",
    `global
  maxconn 2000
defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend gateway
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  timeout check 2s
  default-server inter 200ms fall 3 rise 1
${backends.map((one) => `  server ${one.name} 127.0.0.1:${one.port} check port ${one.admin}`).join("\n")}
frontend stats
  bind 127.0.0.1:${stats}
  stats enable
  stats uri /
`,
  );
  const child = workspace.spawn(programOf("haproxy")!, ["-db", "-f", "haproxy.cfg"]);
  const states = async (): Promise<ReadonlyMap<string, string>> => {
    if (child.ended) throw new Error(`haproxy ended:\n${child.stderr}`);
    const response = await fetch(`http://127.0.0.1:${stats}/;csv`).catch(() => null);
    const [head = "", ...rows] = ((await response?.text()) ?? "").split("\n").map((line) => line.split(","));
    const status = head === "" ? -1 : head.indexOf("status");
    return new Map(rows.map((row) => [row[1] ?? "", row[status] ?? ""]));
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    sees: ({ name }, up) => poll(async () => ((await states()).get(name) ?? "").startsWith("UP") === up),
  };
}
