import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { parse } from "yaml";
import type { Call, Json } from "../../src/kit/index.ts";

export type Cases<Case> = readonly (readonly [about: string, one: Case])[];

export const readYaml = (file: URL): unknown => parse(readFileSync(file, "utf8")) as unknown;

/** The cases of a YAML file, each under what it is about: adding one needs no code. */
export const casesOf = (file: URL): Cases<unknown> => Object.entries(readYaml(file) as Json);

/** The JSON files of a folder, by their names without the ending. */
export function casesOfFiles(folder: URL): Cases<unknown> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files
    .toSorted()
    .map(
      (file) => [basename(file, ".json"), JSON.parse(readFileSync(new URL(file, folder), "utf8")) as unknown] as const,
    );
}

/** What a call becomes for an upstream; what is left out is not looked at, but that nothing is dropped. */
export interface RequestCase {
  /** Left out: the one that the dialect's tests ask. */
  readonly model?: string;
  readonly body: Json;
  readonly call?: Partial<Call>;
  /** Fields of the written body. */
  readonly has?: Json;
  /** Fields that are not in it. */
  readonly lacks?: readonly string[];
  readonly dropped?: readonly string[];
}

type Written = Required<Pick<RequestCase, "has" | "lacks" | "dropped">>;

/** What a case says of a request. */
export const expectedOf = ({ has = {}, lacks = [], dropped = [] }: RequestCase): Written => ({ has, lacks, dropped });

/** What of a written request the case speaks of. */
export function writtenOf(one: RequestCase, { body, dropped }: { body: Json; dropped: readonly string[] }): Written {
  const { has, lacks } = expectedOf(one);
  const fields = Object.keys(has).filter((name) => name in body);
  return {
    has: Object.fromEntries(fields.map((name) => [name, body[name]])),
    lacks: lacks.filter((name) => !(name in body)),
    dropped,
  };
}
