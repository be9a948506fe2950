/**
 * Whether the work ends before `late` is called; its failure counts as an end.
 * @param wait arranges for `late` to be called; returns what calls that off.
 */
export async function endsBefore(work: Promise<unknown>, wait: (late: () => void) => () => void): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const cancel = wait(() => resolve(false));
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    cancel();
  }
}
