import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { PAGES_FOLDER } from "../../src/server/pages.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), "utf8");
const SECRET = "0123456789abcdef0123456789abcdef";

/** What the configuration of the deployment takes from the environment. */
const ENVIRONMENT = {
  GATEWAY_STORE_URL: "redis://store:6379/0",
  GATEWAY_ADMIN_TOKEN: SECRET,
  GATEWAY_JWT_SECRET: SECRET,
  OPENAI_API_KEY: "k",
};

/** Paths that the last stage of the Dockerfile takes from the checkout. */
async function copied(): Promise<string[]> {
  const last = (await read("deploy/Dockerfile")).split(/^FROM /m).at(-1)!;
  return [...last.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(" "));
}

/** Packages of an installation without those for development, as folders below the root. */
async function production(): Promise<string[]> {
  const lock = JSON.parse(await read("package-lock.json")) as {
    readonly packages: Readonly<
      Record<string, { readonly dev?: boolean; readonly devOptional?: boolean; readonly optional?: boolean }>
    >;
  };
  return Object.entries(lock.packages).flatMap(([path, { dev, devOptional, optional }]) =>
    /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && !dev && !devOptional && !optional ? [path] : [],
  );
}

test("the image has all it needs to run: the copied files and the packages without those for development", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-image-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const path of await copied()) await cp(join(ROOT, path), join(folder, path), { recursive: true });
  for (const path of await production()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(ROOT, path), join(folder, path));
  }
  const config = join(ROOT, "deploy/config/gateway.yaml");
  const { stdout } = await run(process.execPath, ["src/cli/main.js", "check", "--strict", config], {
    cwd: folder,
    env: ENVIRONMENT,
  });
  expect(stdout).toContain("0 errors, 0 warnings");
});

test("the image has the pages where the server looks for them, built in a stage of their own", async () => {
  const stages = (await read("deploy/Dockerfile")).split(/^FROM /m);
  const folder = relative(ROOT, PAGES_FOLDER);
  expect(stages.find((stage) => / AS pages$/m.test(stage))).toContain("RUN node src/ui/build.ts\n");
  expect(stages.at(-1)).toContain(`COPY --from=pages /app/${folder} ./${folder}\n`);
});

test("the build context leaves out nothing that the Dockerfile copies", async () => {
  const allowed = new Set(
    (await read("deploy/Dockerfile.dockerignore"))
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : [])),
  );
  const dockerfile = await read("deploy/Dockerfile");
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list]) => list!.split(" "));
  expect([...new Set(sources)].toSorted()).toEqual([...allowed].toSorted());
});

test("the image runs as nobody, without npm, and is checked at /livez", async () => {
  const last = (await read("deploy/Dockerfile")).split(/^FROM /m).at(-1)!;
  expect(last).toMatch(/^USER nonroot$/m);
  expect(last).not.toMatch(/npm|apt|RUN /);
  expect(last).toContain("9090/livez");
});

test("the image's Node is one that package.json takes", async () => {
  const { engines, devDependencies } = JSON.parse(await read("package.json")) as {
    readonly engines: { readonly node: string };
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const image = /^FROM node:([\d.]+)-/m.exec(await read("deploy/Dockerfile"))?.[1];
  expect(image).toBe(devDependencies["node"]);
  expect(engines.node).toBe(">=24.12");
});

test("compose gives the configuration every reference it has, and mounts what exists", async () => {
  interface Service {
    readonly environment?: Readonly<Record<string, string>>;
    readonly volumes?: readonly string[];
    readonly read_only?: boolean;
    readonly profiles?: readonly string[];
    readonly stop_grace_period?: string;
  }
  const compose = parse(await read("deploy/compose.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: Readonly<Record<string, object>>;
  };
  const config = await read("deploy/config/gateway.yaml");
  const required = [...config.matchAll(/\$\{env:(\w+)\}/g)].map(([, name]) => name!);
  expect(Object.keys(compose.services["gateway"]!.environment!)).toEqual(expect.arrayContaining(required));
  expect(required.toSorted()).toEqual(Object.keys(ENVIRONMENT).toSorted());
  expect(compose.services["gateway"]).toMatchObject({ read_only: true, stop_grace_period: "40s" });
  for (const name of ["prometheus", "grafana"]) expect(compose.services[name]!.profiles).toEqual(["monitoring"]);
  const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((text) => text.split(":")[0]!),
  );
  const folders = sources.filter((source) => source.startsWith("./"));
  expect(folders.filter((folder) => !existsSync(join(ROOT, "deploy", folder)))).toEqual([]);
  expect(Object.keys(compose.volumes)).toEqual(
    expect.arrayContaining(sources.filter((source) => !source.startsWith("./"))),
  );
});

test("the unit's paths exist, and it is given longer to stop than a drain takes", async () => {
  const unit = await read("deploy/systemd/route-gateway.service");
  const lines = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.+)$`, "gm"))].map(([, value]) => value!);
  for (const command of [...lines("ExecStart"), ...lines("ExecStartPre")]) {
    await expect(read(command.split(" ")[1]!)).resolves.toContain("#!");
  }
  expect(lines("ExecReload")).toEqual(["/bin/kill -HUP $MAINPID"]);
  expect(lines("KillMode")).toEqual(["mixed"]);
  expect(Number(lines("TimeoutStopSec")[0])).toBeGreaterThan(30);
  expect(lines("DynamicUser")).toEqual(["yes"]);
});
