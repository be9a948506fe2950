import type { ConfigurationSource } from "#schema";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Catalogue, catalogueOf } from "./catalogue.ts";
import { admin } from "./client.ts";

/** Reads the catalogue from the current configuration files. */
export function useCatalogue(): Resource<Catalogue> {
  return useResource("catalogue", async (signal) => {
    const { files } = await admin.get<ConfigurationSource>("/admin/config/source", { signal });
    return catalogueOf(files.map(({ value }) => value));
  });
}
