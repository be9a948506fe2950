import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";

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

interface Manifest {
  readonly files: readonly string[];
  readonly bin: { readonly gateway: string };
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = async (): Promise<Manifest> => JSON.parse(await read("package.json")) as Manifest;

/** The stages of the Dockerfile by their names; the last one is the image. */
async function stages(): Promise<ReadonlyMap<string, string>> {
  const texts = (await read("deploy/Dockerfile")).split(/^(?=FROM )/m).slice(1);
  return new Map(texts.map((text) => [/^FROM .* AS (\w+)$/m.exec(text)?.[1] ?? "image", text]));
}

/** Paths that a stage takes from the checkout. */
function copied(stage: string): readonly string[] {
  return [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(" "));
}

test("the configuration of the deployment is valid, without a warning", async () => {
  const { stdout } = await run(
    process.execPath,
    ["src/cli/main.js", "check", "--strict", "deploy/config/gateway.yaml"],
    {
      cwd: ROOT,
      env: ENVIRONMENT,
    },
  );
  expect(stdout).toContain("0 errors, 0 warnings");
});

test("the image is made of the packed package, with production dependencies of the lock file", async () => {
  const found = await stages();
  expect([...found.keys()]).toEqual(["package", "install", "sbom", "image"]);
  expect(found.get("package")).toMatch(/^RUN npm pack /m);
  const install = found.get("install")!;
  expect(install).toMatch(/^RUN tar -xzf .+ --strip-components=1$/m);
  expect(copied(install)).toContain("package-lock.json");
  expect(install).toMatch(/^RUN npm pkg delete devDependencies .*&& npm install --ignore-scripts$/m);
  expect(copied(found.get("image")!)).toEqual([]);
  const { bin } = await manifest();
  const [, folder] = /^WORKDIR (.+)$/m.exec(install)!;
  expect(found.get("image")).toContain(`COPY --from=install ${folder} ${folder}\n`);
  expect(found.get("image")).toContain(`ENTRYPOINT ["/usr/local/bin/node", "${folder}/${bin.gateway}"]`);
});

test("npm writes the list of what the image has, into the image and for export", async () => {
  const found = await stages();
  expect(found.get("install")).toMatch(/^RUN npm sbom --sbom-format=cyclonedx .*> sbom\.cdx\.json$/m);
  expect(found.get("sbom")).toMatch(/^FROM scratch AS sbom\nCOPY --from=install \S+\/sbom\.cdx\.json \/$/m);
});

test("the package's stage has all that packing it needs, and the context leaves none of it out", async () => {
  const found = await stages();
  const paths = copied(found.get("package")!);
  const packed = (await manifest()).files.map((pattern) => pattern.split("/")[0]!).filter((top) => top !== "dist");
  for (const path of [
    ...packed,
    "README.md",
    "LICENSE",
    "tsconfig.json",
    "package-lock.json",
    "schemas",
    "deploy/package",
  ])
    expect(paths).toContain(path);
  const allowed = (await read("deploy/Dockerfile.dockerignore"))
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  const needed = [...found.values()]
    .flatMap(copied)
    .map((path) => allowed.find((top) => `${path}/`.startsWith(`${top}/`)) ?? path);
  expect([...new Set(needed)].toSorted()).toEqual(allowed.toSorted());
});

test("the image runs as nobody, without npm, and is checked at /livez", async () => {
  const last = (await stages()).get("image")!;
  expect(last).toMatch(/^FROM gcr\.io\/distroless\/\S+:nonroot$/m);
  expect(last).toMatch(/^USER nonroot$/m);
  expect(last).not.toMatch(/\bnpm (?!\.)|apt|^RUN /m);
  expect(last).toContain("9090/livez");
});

test("the image's Node is the one that the checkout is tested on", async () => {
  const images = [...(await read("deploy/Dockerfile")).matchAll(/^FROM node:([\d.]+)-/gm)].map(
    ([, version]) => version,
  );
  expect(new Set(images)).toEqual(new Set([(await manifest()).devDependencies["node"]]));
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

test("the unit starts the installed package, and has longer to stop than a drain takes", async () => {
  const unit = await read("deploy/systemd/route-gateway.service");
  const lines = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.+)$`, "gm"))].map(([, value]) => value!);
  const { bin } = await manifest();
  const [folder] = lines("WorkingDirectory");
  expect(unit).toContain(`npm install --prefix ${folder} route-gateway\n`);
  for (const command of [...lines("ExecStart"), ...lines("ExecStartPre")]) {
    expect(command.split(" ").slice(0, 2)).toEqual(["/usr/bin/node", `node_modules/route-gateway/${bin.gateway}`]);
  }
  expect(lines("ExecReload")).toEqual(["/bin/kill -HUP $MAINPID"]);
  expect(lines("KillMode")).toEqual(["mixed"]);
  expect(Number(lines("TimeoutStopSec")[0])).toBeGreaterThan(30);
  expect(lines("DynamicUser")).toEqual(["yes"]);
});
