import { nearest } from "../kit/index.ts";

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The keys of an object of gateway.yaml, `per_image`, as the snapshot writes them: `perImage`. Values stay as they are. */
export function inCamelCase<T extends object>(written: T): { [Key in keyof T as Camel<Key & string>]: T[Key] } {
  const entries = Object.entries(written).map(([key, value]) => [camel(key), value as unknown] as const);
  return Object.fromEntries(entries) as { [Key in keyof T as Camel<Key & string>]: T[Key] };
}

function camel(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Keeps names such as `constructor` harmless: the record has no prototype. */
export function mapRecord<From, To>(
  record: Readonly<Record<string, From>>,
  map: (name: string, value: From) => To,
): Record<string, To> {
  const mapped = Object.create(null) as Record<string, To>;
  for (const [name, value] of Object.entries(record)) mapped[name] = map(name, value);
  return mapped;
}

/** The nearest candidate as a question, or null. */
export function didYouMean(name: string, candidates: Iterable<string>): string | null {
  const found = nearest(name, candidates);
  return found === null ? null : `did you mean '${found}'?`;
}

/** For a step whose plugin is not known. */
export function pluginHint(name: string, known: readonly string[]): string {
  if (/[/\\]|\.[cm]?[jt]s$/.test(name)) return "write the path of a local plugin with ./ in front";
  return didYouMean(name, known) ?? `plugins: ${known.join(", ")}`;
}
