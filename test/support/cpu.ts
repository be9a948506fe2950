/** Milliseconds of this process's CPU that the work takes: unlike the clock they do not hang on what else the machine does. */
export function cpuOf<T>(work: () => T): { readonly value: T; readonly ms: number } {
  const before = process.cpuUsage();
  const value = work();
  const { user, system } = process.cpuUsage(before);
  return { value, ms: (user + system) / 1000 };
}
