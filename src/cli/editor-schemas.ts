import { existsSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Paths of the schemas for the first line of a configuration and of its tests, from their folder. */
export interface EditorSchemas {
  readonly gateway: string;
  readonly tests: string;
}

const PACKAGE = join("node_modules", "route-gateway");
const NAMES: EditorSchemas = { gateway: "gateway.schema.json", tests: "config-test.schema.json" };

/**
 * Where an editor finds the schemas: in the package if it is installed in the folder or above, or in a checkout.
 * @param folder absolute
 * @returns null if neither is there
 */
export function schemasFor(folder: string): EditorSchemas | null {
  const installed = foldersUpFrom(folder).map((parent) => join(parent, PACKAGE));
  const own = fileURLToPath(new URL("../../", import.meta.url));
  const checkout = relative(own, folder).startsWith("..") ? [] : [own];
  const places = [...installed, ...checkout].map((root) => join(root, "schemas"));
  const found = places.find((place) => existsSync(join(place, NAMES.gateway)));
  if (found === undefined) return null;
  const near = relative(folder, found).split(sep).join("/");
  const at = near.startsWith("..") ? near : `./${near}`;
  return { gateway: `${at}/${NAMES.gateway}`, tests: `${at}/${NAMES.tests}` };
}

/** The folder and those that it is in, the nearest first. */
export function foldersUpFrom(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpFrom(parent)];
}
