import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { build, type Plugin, type Rolldown } from "vite";

/**
 * Packages of which the gateway needs a small part. That part is put into dist/bundled/, and an installation does without
 * 60 MB: encodings of a tokenizer, clients of clouds, polyfills for browsers, a second HTTP framework. Bundling also fixes
 * the versions that `overrides` in package.json chooses, which npm applies to the checkout only.
 */
export const BUNDLED = {
  tokenizer: "gpt-tokenizer/encoding/o200k_base",
  "aws-signature": "@smithy/signature-v4",
  sha256: "@aws-crypto/sha256-js",
  "google-auth": "google-auth-library",
  listhen: "listhen",
  pino: "pino",
  "pino-pretty": "pino-pretty",
} as const;

/** What listhen's own command imports, and the gateway never does. */
const UNREACHED = ["jiti", "@parcel/watcher", "@parcel/watcher-wasm"];

/** A package of which something was bundled. */
interface Part {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly text: string;
}

/** Bundles the packages into `dist/bundled`, beside their licences and a list of them (CycloneDX). */
export async function bundlePackages(root: string, dist: string): Promise<void> {
  const outDir = join(dist, "bundled");
  const names = Object.keys(BUNDLED);
  const output = (await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    plugins: [await entriesPlugin()],
    ssr: { noExternal: true, external: UNREACHED },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      target: "node22",
      rolldownOptions: {
        input: Object.fromEntries(names.map((name) => [name, ENTRY + name])),
        output: { format: "es", entryFileNames: "[name].js", chunkFileNames: "parts/[name]-[hash].js" },
      },
    },
  })) as Rolldown.RolldownOutput;
  const parts = partsOf(output.output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])));
  const licences = parts.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}`);
  writeFileSync(join(outDir, "LICENSES.txt"), licences.join(`\n\n${"-".repeat(80)}\n\n`));
  writeFileSync(join(outDir, "sbom.cdx.json"), `${JSON.stringify(bomOf(parts), null, 2)}\n`);
  for (const path of globSync("src/**/*.js", { cwd: dist })) nameBundled(join(dist, path));
}

const ENTRY = "\0bundled:";

/** What `import` finds beside the names that a package gives its exports, which are what the sources import. */
const FORMAL_EXPORTS = new Set(["default", "module.exports", "__esModule"]);

/** Modules that pass on each name of a package: those of CommonJS have no names that a bundler could see. */
async function entriesPlugin(): Promise<Plugin> {
  const entries = Object.entries(BUNDLED).map(async ([name, from]) => {
    const exported = Object.keys((await import(from)) as object).filter((key) => !FORMAL_EXPORTS.has(key));
    return [ENTRY + name, `export { ${exported.join(", ")} } from "${from}";`] as const;
  });
  const modules = new Map(await Promise.all(entries));
  return {
    name: "bundled-entries",
    resolveId: (id) => (modules.has(id) ? id : null),
    load: (id) => modules.get(id) ?? null,
  };
}

function partsOf(modules: readonly string[]): readonly Part[] {
  const folders = new Set(modules.flatMap((id) => packageFolder(id) ?? []));
  const parts = [...folders].map((folder): Part => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
      "name" | "version" | "license",
      string
    >;
    const file = globSync("{LICEN[SC]E,licen[sc]e}*", { cwd: folder }).sort()[0];
    return { name, version, license, text: file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim() };
  });
  return parts.sort((one, other) => one.name.localeCompare(other.name));
}

/** The folder of the package that a bundled module is from; null for what the bundler itself wrote. */
function packageFolder(id: string): string | null {
  const at = id.lastIndexOf(`${sep}node_modules${sep}`);
  if (at < 0) return null;
  const start = at + `${sep}node_modules${sep}`.length;
  const inside = id.slice(start).split(sep);
  return id.slice(0, start) + inside.slice(0, inside[0]?.startsWith("@") ? 2 : 1).join(sep);
}

/** https://cyclonedx.org/docs/1.5/json/, the version that `npm sbom` writes. */
function bomOf(parts: readonly Part[]): object {
  const components = parts.map(({ name, version, license }) => ({
    "bom-ref": `${name}@${version}`,
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
  }));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    components,
  };
}

/** Lets a compiled file import the bundled part in place of the package. */
function nameBundled(file: string): void {
  const text = readFileSync(file, "utf8");
  const named = Object.entries(BUNDLED).reduce(
    (changed, [name, from]) => changed.replaceAll(`"${from}"`, `"#bundled/${name}"`),
    text,
  );
  if (named !== text) writeFileSync(file, named);
}
