import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { creditsText, formatAbsolute, formatCredits, formatDuration, formatRelative, NONE } from "./formats.ts";

const TICK_MS = 1_000;

/** The clock of everything that shows how long ago or how long until. */
export const now = signal(Date.now());

/** To be called once, when a page starts. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, TICK_MS);
}

/** A moment, relative with the absolute time as its title; `both` shows both. */
export function Time({ at, both }: { readonly at: string | null | undefined; readonly both?: boolean }): JSX.Element {
  const moment = Date.parse(at ?? "");
  if (!at || Number.isNaN(moment)) return <span>{NONE}</span>;
  const absolute = formatAbsolute(moment);
  const relative = formatRelative(moment, now.value);
  return (
    <time dateTime={at} title={absolute}>
      {both ? `${absolute} (${relative})` : relative}
    </time>
  );
}

/** `in 3 h 20 min`, down to the second at the end. */
export function Until({ at }: { readonly at: string | null | undefined }): JSX.Element {
  const moment = Date.parse(at ?? "");
  if (!at || Number.isNaN(moment)) return <span>{NONE}</span>;
  const left = moment - now.value;
  return (
    <time dateTime={at} title={formatAbsolute(moment)}>
      {left <= 0 ? "now" : `in ${formatDuration(Math.ceil(left / 1000) * 1000)}`}
    </time>
  );
}

/** An amount with its unit; the exact one is its title. */
export function Credits({ amount, bare }: { readonly amount: string; readonly bare?: boolean }): JSX.Element {
  return (
    <span class="nowrap" title={`${amount} credits`}>
      {bare ? formatCredits(amount) : creditsText(amount)}
    </span>
  );
}
