import type { ModelConfig, TimeoutsConfig } from "#schema";
import { join } from "../diagnostics.ts";
import { DEADLINE, MAX_TIMER, milliseconds, overlay, RETRIES, TIMEOUTS } from "../settings.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import type { Place } from "./features.ts";

/** Times along a chain that contradict each other: a step that can never be asked, a time that can never pass. */
export function linkDeadlines(context: LinkContext, model: Incomplete<ModelConfig>, places: readonly Place[]): void {
  const { kind } = model;
  const written = model.deadline ?? (kind && context.config.defaults?.kinds?.[kind]?.deadline);
  const deadline = milliseconds(written ?? DEADLINE);
  /** Milliseconds that silent steps before this one may take. */
  let before = 0;
  let isTold = false;
  for (const place of places) {
    linkOwnTimes(context, place);
    const { wait, attempts } = timesOf(context, place);
    const retried = before + wait * (attempts - 1);
    if (!isTold && before > 0 && before >= deadline) {
      isTold = true;
      report(place.pointer, `cannot be asked when the steps before it are silent: they may take ${seconds(before)}`);
    } else if (!isTold && attempts > 1 && retried >= deadline) {
      isTold = true;
      report(
        place.pointer,
        `cannot be tried ${attempts} times when it is silent: ${seconds(retried)} pass before the last`,
      );
    }
    before += wait * attempts;
  }

  function report(pointer: string, what: string): void {
    const own = written === undefined ? `(${DEADLINE} by default)` : `of ${written}`;
    context.report(pointer, {
      rule: "chain-deadline",
      severity: "warning",
      message: `${what}, and the deadline ${own} is over then`,
      hint: "lower timeouts.first_byte or retries of the steps, or raise the deadline",
    });
  }
}

/** What a target waits for an upstream that says nothing, and how often it asks. */
function timesOf(context: LinkContext, place: Place): { readonly wait: number; readonly attempts: number } {
  const { defaults } = context.config;
  const upstream = context.config.upstreams?.[place.target.upstream ?? ""];
  const { connect, first_byte, total } = effective(context, place);
  const { attempts } = overlay(RETRIES, defaults?.upstream?.retries, upstream?.retries);
  const silent = Math.max(milliseconds(connect), milliseconds(first_byte));
  return { wait: Math.min(milliseconds(total), silent), attempts };
}

function effective(context: LinkContext, { target }: Place): Required<TimeoutsConfig> {
  const { defaults } = context.config;
  const upstream = context.config.upstreams?.[target.upstream ?? ""];
  return overlay(TIMEOUTS, defaults?.upstream?.timeouts, upstream?.timeouts, target.timeouts);
}

/** Times that a target writes itself; those of upstreams are checked with the upstreams. */
function linkOwnTimes(context: LinkContext, place: Place): void {
  const { timeouts: own } = place.target;
  if (own === undefined) return;
  const times = effective(context, place);
  for (const low of ["connect", "first_byte", "idle"] as const) {
    if (own[low] === undefined || milliseconds(times[low]) <= milliseconds(times.total)) continue;
    context.report(join(place.pointer, "timeouts", low), {
      rule: "setting-order",
      severity: "warning",
      message: `${low} (${times[low]}) is longer than total (${times.total})`,
      hint: "make total the longer one",
    });
  }
}

/** A heartbeat that comes later than every upstream is given up for its silence is never sent. */
export function linkHeartbeat(context: LinkContext): void {
  const { server, upstreams = {}, defaults } = context.config;
  const written = server?.heartbeat;
  if (written === undefined || context.isInvalid("/upstreams") || context.isInvalid("/models")) return;
  const silences = Object.values(upstreams).map((upstream) => {
    const { first_byte, idle } = overlay(TIMEOUTS, defaults?.upstream?.timeouts, upstream?.timeouts);
    return Math.max(milliseconds(first_byte), milliseconds(idle));
  });
  const longest = Math.max(0, ...silences);
  const isOwnMistake = milliseconds(written) > milliseconds(MAX_TIMER);
  if (isOwnMistake || longest === 0 || milliseconds(written) <= longest) return;
  context.report("/server/heartbeat", {
    rule: "setting-order",
    severity: "warning",
    message: `is never sent: every upstream times out after ${seconds(longest)} of silence`,
    hint: "make it shorter than timeouts.first_byte and timeouts.idle",
  });
}

function seconds(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}
