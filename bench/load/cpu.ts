import { readdirSync, readFileSync } from "node:fs";

/** CPU time a process has used, user and system, all threads: nanoseconds. Linux only. */
export function cpuTime(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce(
    (sum, task) => sum + Number(readTask(`${tasks}/${task}/schedstat`).split(" ")[0]),
    0,
  );
}

/** Resident memory of a process: bytes. */
export function residentMemory(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** A thread may end between the listing and the reading. */
function readTask(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "0";
  }
}
