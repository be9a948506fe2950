import { type MetricObject, Registry } from "@prometheus-io/client";

/** The metrics of one process, or of several as one, with their values. */
export type Scrape = readonly MetricObject[];

/** Prometheus text. */
export interface ScrapeText {
  readonly contentType: string;
  readonly body: string;
}

/** All processes as one: each metric by its own aggregator. Changes nothing that is given. */
export function aggregate(scrapes: readonly Scrape[]): Scrape {
  return Registry.aggregate([...scrapes]).getMetricsAsArray();
}

/** As `aggregate`, for who scrapes them. */
export async function aggregateText(scrapes: readonly Scrape[]): Promise<ScrapeText> {
  const registry = Registry.aggregate([...scrapes]);
  return { contentType: registry.contentType, body: await registry.metrics() };
}

/** What a process leaves behind when it ends: its counts. Its gauges end with it, also those that are added up. */
export function countsOf(scrape: Scrape): Scrape {
  return scrape.filter(({ type }) => type === "counter" || type === "histogram");
}
