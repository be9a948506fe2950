import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

/**
 * Completes what `npm sbom --sbom-format=cyclonedx` prints with the packages that are bundled, which npm does not see:
 * `npm sbom … | node sbom.ts dist/bundled/sbom.cdx.json > sbom.cdx.json`.
 */
interface Bom {
  readonly metadata: { readonly component: { readonly "bom-ref": string } };
  readonly components: readonly { readonly "bom-ref": string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const installed = JSON.parse(await text(process.stdin)) as Bom;
const bundled = JSON.parse(readFileSync(process.argv[2] ?? "dist/bundled/sbom.cdx.json", "utf8")) as Pick<
  Bom,
  "components"
>;
const known = new Set(installed.components.map((component) => component["bom-ref"]));
const added = bundled.components.filter((component) => !known.has(component["bom-ref"]));
const refs = added.map((component) => component["bom-ref"]);
const root = installed.metadata.component["bom-ref"];
const dependencies = installed.dependencies.map((entry) =>
  entry.ref === root ? { ...entry, dependsOn: [...entry.dependsOn, ...refs] } : entry,
);
const whole = {
  ...installed,
  components: [...installed.components, ...added],
  dependencies: [...dependencies, ...refs.map((ref) => ({ ref, dependsOn: [] }))],
};
process.stdout.write(`${JSON.stringify(whole, null, 2)}\n`);
