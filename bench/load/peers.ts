/** Proxies of others, in the configuration that suits the bench best: one thread, connections to the upstream kept. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Booted, Site } from "./bench.ts";
import { freePort, PROXY_CPU, untilItAnswers } from "./processes.ts";

export const PEERS = ["nginx", "haproxy", "portkey"] as const;
export type Peer = (typeof PEERS)[number];

const PORTKEY = "@portkey-ai/gateway";
const PORTKEY_VERSION = "1.15.2";

/** Why a peer cannot be measured; null: it can. */
export function whyAbsent(peer: Peer): string | null {
  if (peer === "portkey") return existsSync(portkeyMain()) ? null : "not installed: --peers installs it";
  return spawnSync(peer, ["-v"]).error === undefined ? null : `not installed: ${peer} is not on the PATH`;
}

/** Installs what npm has, into the user's cache. @throws Error when npm fails. */
export async function installPeers(): Promise<void> {
  if (existsSync(portkeyMain())) return;
  const folder = portkeyFolder();
  await mkdir(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts"];
  const npm = spawnSync("npm", [...args, `${PORTKEY}@${PORTKEY_VERSION}`], { stdio: ["ignore", 2, 2] });
  if (npm.status !== 0) throw new Error(`npm could not install ${PORTKEY}`);
}

export async function bootPeer(site: Site, peer: Peer): Promise<Booted> {
  const { processes, folder, upstreamPort } = site;
  const port = await freePort();
  const file = join(folder, `${peer}-${port}.conf`);
  if (peer !== "portkey") await writeFile(file, CONFIGURATIONS[peer](port, upstreamPort, folder));
  const commands: Readonly<Record<Peer, readonly string[]>> = {
    nginx: ["nginx", "-c", file, "-e", "stderr"],
    haproxy: ["haproxy", "-db", "-f", file],
    portkey: [process.execPath, portkeyMain(), "--headless", `--port=${port}`],
  };
  const child = processes.launch(PROXY_CPU, commands[peer]);
  child.stdout?.resume();
  await untilItAnswers(child, port, "/");
  return { child, port };
}

/** What a request to Portkey names its upstream by. */
export function portkeyHeaders(upstreamPort: number): Readonly<Record<string, string>> {
  return { "x-portkey-provider": "openai", "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1` };
}

const CONFIGURATIONS = {
  nginx: (port: number, upstreamPort: number, folder: string) => `daemon off;
master_process off;
pid ${folder}/nginx-${port}.pid;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  client_body_buffer_size 512k;
  client_max_body_size 1m;
  keepalive_requests 1000000000;
  upstream mock {
    server 127.0.0.1:${upstreamPort};
    keepalive 2048;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`,
  haproxy: (port: number, upstreamPort: number) => `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  option http-no-delay
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend bench
  bind 127.0.0.1:${port}
  default_backend mock
backend mock
  server mock 127.0.0.1:${upstreamPort}
`,
};

function portkeyFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "route-gateway-bench", `portkey-${PORTKEY_VERSION}`);
}

function portkeyMain(): string {
  return join(portkeyFolder(), "node_modules", PORTKEY, "build", "start-server.js");
}
