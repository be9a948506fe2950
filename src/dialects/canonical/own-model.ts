import { type Accepts, type Call, isJson, type Json } from "../../kit/index.ts";
import type { AnswerCodec } from "../dialect.ts";
import { asks, clientPointer, escaped } from "./report.ts";

/** A call without what was taken out of it, and JSON pointers into the client's body of what is missed. */
export interface KeptBack {
  readonly call: Call;
  readonly dropped: readonly string[];
}

/** What of a dialect's requests reaches another model, or what is billed at another rate than the target's. */
export interface PaidBeside {
  /** Top-level fields, canonical ones and those of the client's own dialect. */
  readonly fields: ReadonlySet<string>;
  /** Takes out what else there is. @param accepted fields and tools that the upstream's `accepts` names. */
  readonly keepBack?: (call: Call, accepted: ReadonlySet<string>) => KeptBack;
}

/**
 * The codec of a dialect whose clients reach and pay for the target's model alone: fields by which the
 * upstream would serve or bill another, or at another rate, stay behind and are reported.
 */
export function ownModelOnly(codec: AnswerCodec, paid: PaidBeside, accepts?: Accepts): AnswerCodec {
  const accepted: ReadonlySet<string> = new Set(accepts?.fields);
  const fields = paid.fields.difference(accepted);
  return {
    ...codec,
    request(call, target, apiKey) {
      const first = withoutFields(call, fields);
      const { call: kept, dropped } = paid.keepBack?.(first.call, accepted) ?? { call: first.call, dropped: [] };
      const request = codec.request(kept, target, apiKey);
      if (first.dropped.length + dropped.length === 0) return request;
      return { ...request, dropped: [...first.dropped, ...dropped, ...(request.dropped ?? [])] };
    },
  };
}

function withoutFields(call: Call, fields: ReadonlySet<string>): KeptBack {
  const { body, native = {} } = call;
  const canonical = Object.keys(body).filter((name) => fields.has(name));
  const own = Object.keys(native).filter((name) => fields.has(name));
  if (canonical.length + own.length === 0) return { call, dropped: [] };
  return {
    call: { ...call, body: without(body, canonical), ...(own.length > 0 && { native: without(native, own) }) },
    dropped: [...missed(body, canonical).map((pointer) => clientPointer(call, pointer)), ...missed(native, own)],
  };
}

/** Pointers of what is missed. An object asks by being there: `web_search_options: {}` is a search. */
function missed(from: Json, names: readonly string[]): readonly string[] {
  return names.filter((name) => asks(name, from[name]) || isJson(from[name])).map((name) => `/${escaped(name)}`);
}

export function without(object: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
