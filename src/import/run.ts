import { basename, relative, dirname } from "node:path";
import { importAisix, isAisix } from "./aisix.ts";
import { importBifrost, isBifrost } from "./bifrost.ts";
import type { Draft } from "./draft.ts";
import type { Finding, Status } from "./findings.ts";
import { importLitellm, LITELLM_KEYS } from "./litellm/index.ts";
import { importOneApi, isOneApi } from "./one-api.ts";
import { type Field, ImportError, readSource } from "./source.ts";
import { writeTests } from "./tests.ts";
import { writeYaml } from "./write.ts";

/** What a configuration was imported to. Nothing in it holds a secret of the source. */
export interface Imported {
  readonly yaml: string;
  readonly findings: readonly Finding[];
  /** Config tests; null when no model came over. */
  readonly tests: string | null;
}

/** A tool whose configuration can be imported. */
interface Source {
  /** As people write it. */
  readonly name: string;
  /** What its file is called in messages. */
  readonly file: string;
  readonly isLike: (root: Field) => boolean;
  readonly read: (root: Field, path: string) => Promise<Draft> | Draft;
}

/** One row for each tool: the first argument of `gateway import`. */
export const SOURCES = {
  litellm: {
    name: "LiteLLM",
    file: "a config.yaml of LiteLLM, with model_list",
    isLike: (root) => LITELLM_KEYS.some((key) => root.entries.has(key)),
    read: importLitellm,
  },
  "one-api": {
    name: "one-api or new-api",
    file: "a list of channels of one-api or new-api (the answer of GET /api/channel/)",
    isLike: isOneApi,
    read: importOneApi,
  },
  bifrost: {
    name: "Bifrost",
    file: "a config.json of Bifrost, with providers",
    isLike: isBifrost,
    read: importBifrost,
  },
  aisix: {
    name: "AISIX",
    file: "a resources.yaml of AISIX, with provider_keys and models",
    isLike: isAisix,
    read: importAisix,
  },
} as const satisfies Readonly<Record<string, Source>>;

export type SourceKind = keyof typeof SOURCES;
export const KINDS = Object.keys(SOURCES) as SourceKind[];

interface ImportOptions {
  readonly kind: SourceKind;
  /** Absolute. */
  readonly path: string;
  /** How messages call it. */
  readonly shown: string;
  /** Where the tests will be, and the configuration that they test: both absolute. */
  readonly tests?: { readonly path: string; readonly config: string };
  /** Paths of the schemas for the first line of the two files, as an editor finds them; null: that line is not written. */
  readonly schemas?: { readonly gateway: string | null; readonly tests: string | null };
}

/** @throws ImportError for a file that is not there, or is no configuration of that tool. */
export async function importConfiguration(options: ImportOptions): Promise<Imported> {
  const { kind, path, shown, tests, schemas } = options;
  const source: Source = SOURCES[kind];
  const root = await readSource(path, shown);
  if (!source.isLike(root)) throw new ImportError(`${shown} is not ${source.file}${looksLike(kind, root)}`);
  const draft = await source.read(root, path);
  const findings = draft.findings.all(`is no setting of ${source.name} that is known here`);
  const header = headerOf(draft, source.name, shown, findings);
  const { secrets } = draft;
  const config =
    tests === undefined ? "gateway.yaml" : relative(dirname(tests.path), tests.config) || basename(tests.config);
  const routingHeader = [`What ${source.name} routed where, by ${basename(shown)}: run gateway test on this file.`];
  const routing = writeTests(draft, config, routingHeader, schemas?.tests ?? null);
  return {
    yaml: secrets.hide(writeYaml(draft, header, schemas?.gateway ?? null)),
    tests: routing === null ? null : secrets.hide(routing),
    findings: findings.map((finding) => ({
      ...finding,
      path: secrets.hide(finding.path),
      reason: secrets.hide(finding.reason),
    })),
  };
}

export function countsOf(findings: readonly Finding[]): Readonly<Record<Status, number>> {
  const counts = { mapped: 0, changed: 0, lost: 0 };
  for (const { status } of findings) counts[status]++;
  return counts;
}

function headerOf({ variables, config }: Draft, name: string, shown: string, findings: readonly Finding[]): string[] {
  const { mapped, changed, lost } = countsOf(findings);
  const models = Object.keys(config.models ?? {}).length;
  return [
    `Imported from ${name} (${basename(shown)}): ${mapped} fields mapped, ${changed} changed, ${lost} lost.`,
    ...(models === 0 ? ["No model came over: see the findings of the import."] : []),
    ...(variables.used.length === 0
      ? []
      : ["", "Variables to set, for example in .env beside this file:", ...variables.used.map((one) => `  ${one}`)]),
    "",
  ];
}

/** Files that are mistaken for another, by keys at their top. */
const OTHERS: readonly (readonly [is: (keys: ReadonlyMap<string, Field>) => boolean, what: string])[] = [
  [(keys) => keys.has("upstreams") && keys.has("version"), "a gateway.yaml of this gateway, which needs no import"],
  [(keys) => keys.has("services") && !keys.has("apiVersion"), "a Docker Compose file: name the file that it mounts"],
  [
    (keys) => keys.has("apiVersion") && keys.has("kind"),
    "a Kubernetes manifest: put the configuration that is in it into a file of its own",
  ],
  [(keys) => keys.has("openapi") || keys.has("swagger"), "a description of an API (OpenAPI)"],
  [(keys) => keys.has("jobs") && (keys.has("on") || keys.has("true")), "a GitHub workflow"],
  [(keys) => keys.has("endpoints") && keys.has("version"), "a configuration of LibreChat"],
  [
    (keys) => keys.has("proxy_config") || keys.has("masterkey"),
    "values of a Helm chart: name the configuration alone, which is below proxy_config",
  ],
  [(keys) => keys.has("tests") || keys.has("sets"), "a file of config tests"],
];

function looksLike(kind: SourceKind, root: Field): string {
  const other = Object.entries<Source>(SOURCES).find(([name, { isLike }]) => name !== kind && isLike(root));
  if (other !== undefined) return `: it looks like ${other[1].file} (gateway import ${other[0]})`;
  if (root.kind !== "map") return `: it holds ${root.kind === "list" ? "a list" : "one value"}`;
  const [, what] = OTHERS.find(([is]) => is(root.entries)) ?? [];
  return what === undefined ? "" : `: it looks like ${what}`;
}
