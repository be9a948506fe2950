import type { Ended } from "./processes.ts";

/** What a line says that tells a user of trouble. */
const TROUBLE =
  /\b(?:errors?|api error|retry(?:ing)?|retries|reconnect(?:ing)?|fail(?:ed|ure)?|unsupported|overloaded|exceeds?|exceeded|refused|disconnected|too (?:large|long)|rate limit)\b/i;
const MAXIMUM_LINES = 20;
const MAXIMUM_CHARACTERS = 300;

/**
 * The lines of an agent's output that show its user an error, each once.
 * @param situation its name, which stands in paths and names of models: it is no trouble itself.
 */
export function errorLines({ stdout, stderr }: Pick<Ended, "stdout" | "stderr">, situation: string): readonly string[] {
  const lines = `${stdout}\n${stderr}`.replaceAll(situation, "situation").split(/\r?\n/).map(plain);
  const found = lines.filter((line) => TROUBLE.test(line) && !saysAllIsWell(line));
  return [...new Set(found.map((line) => line.slice(0, MAXIMUM_CHARACTERS)))].slice(0, MAXIMUM_LINES);
}

/** Machine-readable output has fields named after errors also when there were none. */
function saysAllIsWell(line: string): boolean {
  if (!line.startsWith("{")) return false;
  try {
    const said = JSON.parse(line) as { readonly is_error?: unknown; readonly error?: unknown; readonly type?: unknown };
    return said.is_error === false || (said.is_error === undefined && !said.error && said.type !== "error");
  } catch {
    return false;
  }
}

/** Without colours and other control sequences of terminals. */
function plain(line: string): string {
  // oxlint-disable-next-line no-control-regex -- the escape character is what these sequences begin with
  return line.replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, "").trim();
}
