interface Family {
  /** Its HELP and TYPE lines. */
  readonly head: string[];
  type: string;
  /** Values by name and labels as written. */
  readonly samples: Map<string, number>;
}

/** One scrape, by family. */
export type Scrape = ReadonlyMap<string, Family>;

type Combine = (a: number, b: number) => number;

/** What is a state and no count: the worst of all processes. */
const STATES: Readonly<Record<string, Combine>> = {
  gateway_breaker_state: Math.max,
  gateway_upstream_healthy: Math.min,
  gateway_config_info: Math.max,
  gateway_store_away: Math.max,
  // The journal is one for all.
  gateway_settlements: Math.max,
};
const sum: Combine = (a, b) => a + b;

/** Reads a scrape that the gateway itself wrote: Prometheus text, one line a sample, without timestamps. */
export function readScrape(text: string): Scrape {
  const families = new Map<string, Family>();
  let family: Family | null = null;
  for (const line of text.split("\n")) {
    const comment = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line);
    if (comment !== null) {
      const [, what = "", name = "", rest = ""] = comment;
      family = families.get(name) ?? { head: [], type: "", samples: new Map() };
      families.set(name, family);
      family.head.push(line);
      if (what === "TYPE") family.type = rest;
    } else if (family !== null && line !== "" && !line.startsWith("#")) {
      const end = line.lastIndexOf(" ");
      family.samples.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return families;
}

/** All processes as one: counts added up, states as the worst one has them. */
export function addScrapes(scrapes: readonly Scrape[]): Scrape {
  const total = new Map<string, Family>();
  for (const scrape of scrapes) {
    for (const [name, { head, type, samples }] of scrape) {
      const combine = STATES[name] ?? sum;
      const family = total.get(name) ?? { head, type, samples: new Map<string, number>() };
      total.set(name, family);
      for (const [key, value] of samples) {
        const former = family.samples.get(key);
        family.samples.set(key, former === undefined ? value : combine(former, value));
      }
    }
  }
  return total;
}

/** What a process leaves behind when it ends: its counts, so that those of all never go back. */
export function countsOf(scrape: Scrape): Scrape {
  return new Map([...scrape].filter(([, { type }]) => type === "counter" || type === "histogram"));
}

export function writeScrape(scrape: Scrape): string {
  const families = [...scrape.values()].map(({ head, samples }) =>
    [...head, ...[...samples].map(([key, value]) => `${key} ${value}`)].join("\n"),
  );
  return `${families.join("\n\n")}\n`;
}
