import type { ConfigurationSource } from "#schema";
import { type Resource, useResource } from "../shared/resource.ts";
import { admin } from "./client.ts";

/** Names of what the configuration in force has, to choose from. */
export interface Catalogue {
  readonly tiers: readonly string[];
  readonly models: readonly string[];
  readonly upstreams: readonly string[];
}

export function useCatalogue(): Resource<Catalogue> {
  return useResource("catalogue", async (signal) => {
    const { files } = await admin.get<ConfigurationSource>("/admin/config/source", { signal });
    const values = files.map(({ value }) => value);
    return {
      tiers: namesIn(values, "tiers"),
      models: namesIn(values, "models"),
      upstreams: namesIn(values, "upstreams"),
    };
  });
}

function namesIn(files: readonly unknown[], section: string): readonly string[] {
  const names = files.flatMap((file) => {
    const found = isRecord(file) ? file[section] : null;
    return isRecord(found) ? Object.keys(found) : [];
  });
  return [...new Set(names)];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
