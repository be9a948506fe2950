import { definePlugin, streamTexts, type TextChange, withAnswerTexts, withCallTexts } from "#kit";
import type { PiiMaskOptions } from "#schema";

type Kind = NonNullable<PiiMaskOptions["kinds"]>[number];

/** Puts placeholders in the place of personal data in what upstreams get, and the data in the place of them in answers. */
export default definePlugin<PiiMaskOptions>({
  name: "pii-mask",
  stage: "transform",
  schema: new URL("../schemas/plugins/pii-mask.schema.json", import.meta.url),
  setup({ kinds }) {
    const wanted = FINDERS.filter(({ kind }) => kinds?.includes(kind) ?? true);
    const finders = wanted.map((finder) => ({ ...finder, expression: new RegExp(finder.expression) }));
    /** By exchange, and gone with it. */
    const masked = new WeakMap<object, Masks>();
    return {
      transform(call, exchange) {
        const masks = new Masks();
        // First what is written in the request as it is: no placeholder may say the same.
        withCallTexts(call, (text) => masks.note(text));
        const changed = withCallTexts(call, (text, { fixed }) => masks.mask(text, finders, fixed));
        if (masks.count > 0) masked.set(exchange, masks);
        return changed;
      },
      stream(exchange) {
        const masks = masked.get(exchange);
        return masks === undefined ? null : streamTexts(() => new Restoring(masks));
      },
      response(body, exchange) {
        const masks = masked.get(exchange);
        return masks === undefined ? body : withAnswerTexts(body, (text) => masks.restored(text));
      },
    };
  },
});

interface Finder {
  readonly kind: Kind;
  /** Each attempt at a match has an end that is near: no text takes longer than its length. */
  readonly expression: RegExp;
  /** How many characters of a candidate it is, 0 for none of it; left out: all. */
  readonly length?: (candidate: string) => number;
}

const PLACEHOLDER = /\[(?:EMAIL|PHONE|IBAN|CARD|IP|KEY)_\d{1,6}\]/g;
/** The beginning of a placeholder at the end of a text that goes on. */
const BEGINNING = /\[(?:[A-Z]{0,5}|[A-Z]{2,5}_\d{0,6})$/;

/** The placeholders of one exchange. The same value has the same one, so a conversation that goes on reads as before. */
class Masks {
  readonly #byValue = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #counts = new Map<Kind, number>();

  get count(): number {
    return this.#values.size;
  }

  note(text: string): string {
    if (text.includes("_")) for (const [placeholder] of text.matchAll(PLACEHOLDER)) this.#taken.add(placeholder);
    return text;
  }

  /** @param fixed only what has a placeholder already gets it: all else its reader has written itself. */
  mask(text: string, finders: readonly Finder[], fixed: boolean): string {
    let masked = text;
    for (const finder of finders) masked = this.#replaced(masked, finder, fixed);
    return masked;
  }

  restored(text: string): string {
    return text.includes("[") ? text.replaceAll(PLACEHOLDER, (found) => this.#values.get(found) ?? found) : text;
  }

  #replaced(text: string, { kind, expression, length }: Finder, fixed: boolean): string {
    let masked = "";
    let done = 0;
    expression.lastIndex = 0;
    for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
      const [candidate] = found;
      const count = length?.(candidate) ?? candidate.length;
      // What is none may have one in it.
      expression.lastIndex = found.index + Math.max(count, 1);
      if (count === 0) continue;
      const value = candidate.slice(0, count);
      const placeholder = this.#byValue.get(value) ?? (fixed ? value : this.#placeholderOf(value, kind));
      masked += text.slice(done, found.index) + placeholder;
      done = found.index + count;
    }
    return masked + text.slice(done);
  }

  #placeholderOf(value: string, kind: Kind): string {
    let placeholder: string;
    let number = this.#counts.get(kind) ?? 0;
    do {
      number += 1;
      placeholder = `[${kind.toUpperCase()}_${number}]`;
    } while (this.#taken.has(placeholder));
    this.#counts.set(kind, number);
    this.#byValue.set(value, placeholder);
    this.#values.set(placeholder, value);
    return placeholder;
  }
}

/** Restores a text that comes in pieces. */
class Restoring implements TextChange {
  readonly #masks: Masks;
  #held = "";

  constructor(masks: Masks) {
    this.#masks = masks;
  }

  add(piece: string): string {
    const text = this.#held + piece;
    const begun = BEGINNING.exec(text.slice(-MAX_PLACEHOLDER_CHARACTERS));
    this.#held = begun?.[0] ?? "";
    return this.#masks.restored(text.slice(0, text.length - this.#held.length));
  }

  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}

const MAX_PLACEHOLDER_CHARACTERS = 14;

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
/** Of vendors whose keys are known by their beginning, and of tokens and private keys. */
const SECRETS = [
  String.raw`(?:sk|rk|pk|hf|gsk|xai|pplx|ghp|gho|ghu|ghs|ghr|glpat|github_pat|npm|xox[abeoprs])[-_][\w-]{16,200}`,
  String.raw`(?:AKIA|ASIA)[A-Z\d]{16}`,
  String.raw`AIza[\w-]{35}`,
  String.raw`eyJ[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{8,1000}`,
];

/** In this order: what one has found is no longer there for the next. */
const FINDERS: readonly Finder[] = [
  {
    kind: "key",
    expression: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{1,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
  },
  { kind: "key", expression: new RegExp(String.raw`(?<![\w-])(?:${SECRETS.join("|")})(?![\w-])`, "g") },
  {
    kind: "email",
    expression:
      /(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-])[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-][\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/gu,
  },
  { kind: "iban", expression: /(?<![A-Za-z\d])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z\d]){11,30}/g, length: ibanLength },
  { kind: "card", expression: /(?<![\d.-])[2-6](?:[ -]?\d){12,18}(?!\d)/g, length: cardLength },
  {
    kind: "ip",
    expression: new RegExp(String.raw`(?<![\d.])${OCTET}(?:\.${OCTET}){3}(?!\d|\.\d)`, "g"),
  },
  { kind: "ip", expression: /(?<![\w:.])[\da-fA-F:]{3,39}(?:(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])/g, length: ipv6Length },
  {
    kind: "phone",
    expression: /(?<![\w+.])(?:\+|00)[1-9](?:[ ()./-]{0,3}\d){6,14}(?!\d)/g,
  },
  // As written in North America, and with an area code that begins with 0.
  {
    kind: "phone",
    expression: /(?<![\w+.-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}(?![\w-])/g,
  },
  { kind: "phone", expression: /(?<![\w+.-])0[1-9]\d{1,4}[ /-]{1,3}\d{2,4}(?:[ -]?\d){3,8}(?![\w-])/g },
];

/** Characters of an IBAN by country (registry of SWIFT). */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 " +
    "FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
    "LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
    "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** As much of the candidate as its country's have, if its checksum is right (ISO 7064, MOD 97-10). */
function ibanLength(candidate: string): number {
  const count = IBAN_LENGTHS.get(candidate.slice(0, 2).toUpperCase()) ?? 0;
  let plain = "";
  let at = 0;
  for (; at < candidate.length && plain.length < count; at += 1)
    if (/[^ -]/.test(candidate[at]!)) plain += candidate[at];
  const goesOn = /[A-Za-z\d]/.test(candidate[at] ?? "");
  if (count === 0 || plain.length < count || goesOn) return 0;
  let rest = 0;
  for (const unit of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(unit, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1 ? at : 0;
}

const MIN_CARD_DIGITS = 13;

/** As much of the candidate as has a right checksum (Luhn): a card's date or code may stand behind it. */
function cardLength(candidate: string): number {
  for (let end = candidate.length; end > 0; end -= 1) {
    if (/\d/.test(candidate[end] ?? "") || !/\d/.test(candidate[end - 1]!)) continue;
    const digits = candidate.slice(0, end).replaceAll(/\D/g, "");
    if (digits.length < MIN_CARD_DIGITS) return 0;
    if (isLuhn(digits)) return end;
  }
  return 0;
}

function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits.at(-1 - place));
    sum += place % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
  }
  return sum % 10 === 0;
}

/** All of it, if it is an address: two colons, and a digit, which names in programs seldom have. */
function ipv6Length(candidate: string): number {
  const colons = candidate.split(":").length - 1;
  const isOne = colons > 1 && /\d/.test(candidate) && URL.canParse(`http://[${candidate}]/`);
  return isOne ? candidate.length : 0;
}
