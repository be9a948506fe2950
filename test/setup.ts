import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that suites start, with the Debian package that brings them; any of `programs` will do. */
const NEEDED = [
  { programs: ["redis-server", "valkey-server"], package: "redis-server" },
  { programs: ["haproxy"], package: "haproxy" },
  { programs: ["kubectl"], package: "kubernetes-client" },
  { programs: ["chromium", "chromium-browser", "google-chrome"], package: "chromium" },
] as const;

/** Never started as services: suites start their own, on ports of their own. */
const QUIET = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };

function onPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const isMissing = ({ programs }: (typeof NEEDED)[number]): boolean => !programs.some(onPath);

function apt(...args: readonly string[]): boolean {
  return spawnSync("apt-get", [...args], { stdio: ["ignore", "ignore", "inherit"], env: QUIET }).status === 0;
}

const missing = NEEDED.filter(isMissing);
if (missing.length > 0) {
  const packages = missing.map((needed) => needed.package);
  const install = ["install", "-y", "--no-install-recommends", ...packages] as const;
  if (process.getuid?.() === 0 && onPath("apt-get")) {
    console.log(`installing ${packages.join(", ")} for the tests`);
    if (!apt(...install)) {
      apt("update");
      apt(...install);
    }
  }
  for (const { programs } of NEEDED.filter(isMissing)) {
    console.warn(`no ${programs.join(" or ")} here: its suites are skipped (with CI=true that is a failure)`);
  }
}
