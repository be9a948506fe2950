import type { ExplainedStep, ExplainedTarget, Explanation } from "#schema";

/** An explanation for people: what was decided, by whom, and why. */
export function explanationText(explanation: Explanation): string {
  const { request, answer, stages, chain } = explanation;
  const { model, kind, endpoint, stream, tier, user, hash } = request;
  const who = user === null ? `a user of ${tier}` : `${user}, ${tier}`;
  const lines = [
    `${model} (${kind}) for ${who}, at ${endpoint}${stream ? ", streamed" : ""}; configuration ${hash.slice(0, 12)}`,
    answerLine(answer),
    ...section(
      "stages",
      stages.map(({ stage, plugin, decision, reason }) => [stage, plugin, decision, reason]),
    ),
    ...section("chain", chain.flatMap(stepRows)),
    ...section("limits", limitRows(explanation)),
    ...section("credits", creditRows(explanation)),
  ];
  // Names and upstreams' own words may hold what moves a cursor.
  return `${lines.map((line) => line.replaceAll(/\p{C}/gu, "\uFFFD").trimEnd()).join("\n")}\n`;
}

function answerLine({ status, code, outcome, upstream, message, took_ms }: Explanation["answer"]): string {
  const by = upstream === null ? outcome : `${outcome} by ${upstream}`;
  const what = code === null ? by : `${code}: ${message}`;
  return `→ ${status} ${what}${took_ms > 0 ? ` after ${took_ms} ms` : ""}`;
}

/** Cells in columns, two blanks apart; the last column is as wide as it is. */
function section(title: string, rows: readonly (readonly string[])[]): string[] {
  const widths = Array.from({ length: Math.max(0, ...rows.map(({ length }) => length)) }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return ["", title, ...rows.map((row) => `  ${line(row)}`)];
}

function stepRows({ balance, targets }: ExplainedStep, index: number): string[][] {
  return targets.map((target, position) => {
    const place = position === 0 ? `${index + 1}.` : "";
    const shared = balance === "single" ? "" : ` (${balance})`;
    const { upstream, model, dialect, decision } = target;
    return [
      place,
      `${upstream}${shared}`,
      model,
      dialect,
      decision,
      [whyOf(target), lossOf(target)].filter(Boolean).join("; "),
    ];
  });
}

function whyOf({ reason, requests, took_ms }: ExplainedTarget): string {
  const tried = requests > 1 ? `${requests} requests` : "";
  return [reason, tried, took_ms > 0 ? `${took_ms} ms` : ""].filter(Boolean).join(", ");
}

function lossOf({ dropped, lost_features }: ExplainedTarget): string {
  const lost = [...dropped, ...lost_features.map((feature) => `feature ${feature}`)];
  return lost.length === 0 ? "" : `cannot be told ${lost.join(", ")}`;
}

function limitRows({ limits: { streams, ...windows } }: Explanation): string[][] {
  const rows = Object.entries(windows).map(([name, { limit, used, left, resets_at }]) =>
    limit === null
      ? [name, "no limit", ""]
      : [name, `${used} of ${limit} used, ${left} left`, `until ${resets_at.replace(".000Z", "Z")}`],
  );
  const running = streams.limit === null ? "no limit" : `${streams.running} of ${streams.limit} run`;
  return [...rows, ["streams", running, ""]];
}

function creditRows({ credits, charge }: Explanation): string[][] {
  const { currency, balance, held, enforced, hold } = credits;
  const { expected, usage, estimated } = charge;
  const used = Object.entries(usage).flatMap(([name, count]) =>
    Number(count) > 0 ? [`${count} ${NAMES[name] ?? name}`] : [],
  );
  const of = used.length === 0 ? "" : `for ${used.join(", ")}${estimated ? " (estimated)" : ""}`;
  return [
    ["balance", balance === null ? "enough" : `${balance} ${currency}`, held === null ? "" : `of it ${held} held`],
    ["hold", `${hold} ${currency}`, enforced ? "" : "recorded only: billing.enforce is false"],
    ["expected charge", `${expected} ${currency}`, of],
  ];
}

const NAMES: Readonly<Record<string, string>> = {
  prompt: "prompt tokens",
  completion: "output tokens",
  cached: "cached tokens",
  reasoning: "reasoning tokens",
  cache_write: "tokens written to a cache",
  cache_write_1h: "of them for an hour",
  audio_ms: "ms of audio",
};
