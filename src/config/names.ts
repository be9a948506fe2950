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
