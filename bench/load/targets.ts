import { join } from "node:path";
import { type Booted, bootBare, bootFloor, bootGateway, driveOn, type Site } from "./bench.ts";
import type { Result } from "./drive.ts";
import { prepareGateway } from "./gateway.ts";
import { loadOn, type LoadSpec } from "./loads.ts";
import { bootPeer, type Peer, PEERS, portkeyHeaders, whyAbsent } from "./peers.ts";
import { findRedis, startRedis } from "./redis.ts";

export const TARGETS = [
  "upstream",
  "bare",
  "floor",
  "floor on Redis",
  "gateway",
  "gateway on Redis",
  ...PEERS,
] as const;
export type TargetName = (typeof TARGETS)[number];

/** Something that is booted for a round, put under loads and ended. */
export interface Target {
  boot(): Promise<Booted>;
  drive(booted: Booted, spec: LoadSpec, seconds: number): Promise<Result>;
  end(booted: Booted): Promise<void>;
}

/** Why it cannot be measured here; null: it can. */
export function whyMissing(name: TargetName): string | null {
  if (name.endsWith("on Redis")) return findRedis() === null ? "not installed: no Redis or Valkey server" : null;
  const peer = PEERS.find((one) => one === name);
  return peer === undefined ? null : whyAbsent(peer);
}

/** Makes what a target needs for all rounds. */
export async function prepareTarget(site: Site, name: TargetName, logLevel: string): Promise<Target> {
  const end = ({ child }: Booted) => site.processes.end(child);
  switch (name) {
    case "upstream":
      // The driver's own ceiling: there is nothing between it and the upstream.
      return relay(
        site,
        async () => ({ child: site.upstream, port: site.upstreamPort }),
        async () => undefined,
      );
    case "floor":
    case "floor on Redis":
      return floorTarget(site, name);
    case "gateway":
    case "gateway on Redis":
      return gatewayTarget(site, name, logLevel);
    case "bare":
      return relay(site, () => bootBare(site), end);
    default:
      return relay(site, () => bootPeer(site, name), end, name);
  }
}

/** What knows neither keys nor models. */
function relay(site: Site, boot: Target["boot"], end: Target["end"], peer?: Peer): Target {
  const how = { key: "none", headers: peer === "portkey" ? portkeyHeaders(site.upstreamPort) : {} };
  return {
    boot,
    drive: (booted, spec, seconds) => driveOn(site, booted, { ...how, seconds, ...loadOn(spec, false) }),
    end,
  };
}

/** Each boot has a database of its own. */
async function floorTarget(site: Site, name: TargetName): Promise<Target> {
  const { processes, folder } = site;
  const own = join(folder, name.replaceAll(" ", "-"));
  const redis = name === "floor" ? null : await startRedis(processes, `${own}-store`);
  let boots = 0;
  return relay(
    site,
    () => bootFloor(site, redis?.url ?? `${own}-${(boots += 1)}.db`),
    ({ child }) => processes.end(child),
  );
}

async function gatewayTarget(site: Site, name: TargetName, logLevel: string): Promise<Target> {
  const { processes, folder, upstreamPort } = site;
  const own = join(folder, name.replaceAll(" ", "-"));
  const redis = name === "gateway" ? null : await startRedis(processes, `${own}-store`);
  const gateway = await prepareGateway(own, upstreamPort, redis?.url);
  return {
    boot: () => bootGateway(site, gateway, logLevel),
    drive: (booted, spec, seconds) => {
      const { key } = gateway;
      return driveOn(site, booted, { key, seconds, storePid: redis?.pid, ...loadOn(spec, true) });
    },
    end: ({ child }) => processes.end(child),
  };
}
