import type { PiiMaskOptions } from "#schema";

export type Kind = NonNullable<PiiMaskOptions["kinds"]>[number];

/** Finds one form of personal data in a folded text. */
export interface Finder {
  readonly kind: Kind;
  /** Each attempt at a match has an end that is near: no text takes longer than its length. */
  readonly expression: RegExp;
  /** How many characters of a candidate are the number, 0 if it is not one. Absent: all of them. */
  readonly length?: (candidate: string) => number;
}

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;

/**
 * Keys and tokens that are known by their beginning. Most beginnings are those of the rules of gitleaks, the others stand
 * in the documentation of their vendors.
 * @see https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml
 * @see https://docs.gitlab.com/security/tokens/#token-prefixes
 * @see https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
 * @see https://api.slack.com/concepts/token-types
 */
const KEY_PREFIXES = [
  // AI providers
  "sk|hf|gsk|xai|pplx|csk|nvapi|pcsk|tvly|lsv2_(?:pt|sk)|jina|tgp_v1",
  // code, packages and builds
  "gh[pousr]|github_pat|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt|oas)|npm|pypi|rubygems|dckr_[po]at|sgp|pnu|tfp",
  // chat, mail, payment and shops
  "xox[abceoprs]|xapp|xwfp|lin_api|PMAK|xkeysib|rk|pk|whsec|shp(?:at|ca|pa|ss)|sq0(?:atp|csp)|shippo_(?:live|test)|figd",
  // clouds and observation
  "do[opr]_v1|pscale_(?:oauth|pw|tkn)|sbp|sb_(?:secret|publishable)|HRKU|gl(?:c|sa)|NRAK|sntry[su]|GOCSPX|rdme|api_org",
].join("|");

const SECRETS = [
  // What follows the mark is long; GitLab and Slack put parts behind dots.
  String.raw`(?:${KEY_PREFIXES})[-_](?:[\w-]{16,400})(?:\.[\w-]{2,200}){0,3}`,
  // Short marks are words, too, unless what follows is as long as a key.
  String.raw`(?:pa-[\w-]{40,60}|fw_[A-Za-z\d]{20,60}|r8_[A-Za-z\d]{30,60}|ntn_[A-Za-z\d]{40,60})`,
  String.raw`A3-[A-Z\d]{6}-[A-Z\d]{6,11}-[A-Z\d-]{11,30}`,
  String.raw`xoxe\.xox[bp]-[\w-]{16,400}`,
  String.raw`(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z\d])[A-Z\d]{16}`,
  String.raw`AIza[\w-]{35}`,
  String.raw`dapi[a-f\d]{32}(?:-\d)?`,
  String.raw`LTAI[A-Za-z\d]{20}`,
  String.raw`ATATT3[\w=-]{60,400}`,
  String.raw`pul-[a-f\d]{40}`,
  String.raw`SG\.[\w-]{16,64}\.[\w-]{16,64}`,
  String.raw`(?:ya29|dp\.(?:pt|st|ct|sa|scim|audit)|hv[sbr])\.[\w.-]{20,400}`,
  String.raw`AGE-SECRET-KEY-1[A-Z\d]{58}`,
  String.raw`eyJ[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{8,1000}`,
];

/** A block of a private key: PEM, encrypted or not, OpenSSH, PGP (RFC 9580) and SSH2 (RFC 4716) alike. */
const KEY_BLOCK_NAME = String.raw`[A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?`;
/** Lines of base64 and of headers such as `DEK-Info: AES-256-CBC,…`; line breaks also as they stand in JSON. */
const KEY_BLOCK_BODY = String.raw`(?:[\w+/=:,.; \t\r\n\\()@<>"']|-(?!-{3})){0,20000}`;

/** Between two digits of a number that is written without groups. */
const SEPARATOR = "[ \\t-]";
/** Between groups of digits: nothing, up to three characters, as in ` - `, or the end of a line. */
const GROUP_SEPARATOR = "[ \\t\\r\\n.\\-_/]{0,3}";

/** Cards as they are printed: four groups of four, Amex 4-6-5, Diners 4-6-4. */
const CARD_GROUPS = [
  String.raw`[2-6]\d{3}(?:${GROUP_SEPARATOR}\d{4}){3}(?:${GROUP_SEPARATOR}\d{1,3})?`,
  String.raw`3\d{3}${GROUP_SEPARATOR}\d{6}${GROUP_SEPARATOR}\d{4,5}`,
];

/** In this order: what one has found is no longer there for the next. */
export const FINDERS: readonly Finder[] = [
  {
    kind: "key",
    // Without its end it is as much of a key.
    expression: new RegExp(
      String.raw`-{4,5} ?BEGIN ${KEY_BLOCK_NAME} ?-{4,5}${KEY_BLOCK_BODY}(?:-{4,5} ?END ${KEY_BLOCK_NAME} ?-{4,5})?`,
      "g",
    ),
  },
  { kind: "key", expression: new RegExp(String.raw`(?<![\w-])(?:${SECRETS.join("|")})(?![\w-])`, "g") },
  {
    kind: "email",
    expression:
      /(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-])[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-][\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/gu,
  },
  {
    kind: "iban",
    expression: /(?<![A-Za-z\d])[A-Za-z]{2}[ -]?\d{2}(?:[ \t\r\n.\-_/]{0,3}[A-Za-z\d]){11,30}/g,
    length: ibanLength,
  },
  {
    kind: "card",
    expression: new RegExp(String.raw`(?<![\d.-])(?:${CARD_GROUPS.join("|")})(?!\d)`, "g"),
    length: cardLength,
  },
  {
    kind: "card",
    expression: new RegExp(String.raw`(?<![\d.-])[2-6](?:${SEPARATOR}?\d){12,18}(?!\d)`, "g"),
    length: cardLength,
  },
  {
    kind: "ip",
    expression: new RegExp(String.raw`(?<![\d.])${OCTET}(?:\.${OCTET}){3}(?!\d|\.\d)`, "g"),
  },
  { kind: "ip", expression: /(?<![\w:.])[\da-fA-F:]{3,39}(?:(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])/g, length: ipv6Length },
  {
    kind: "phone",
    expression: /(?<![\w+.])(?:\+|00)[1-9](?:[ \t()./_-]{0,3}\d){6,14}(?!\d)/g,
  },
  // As written in North America, and with an area code that begins with 0.
  {
    kind: "phone",
    expression:
      /(?<![\w+.-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ \t./_-]{1,3})[2-9]\d\d[ \t./_-]{1,3}\d{4}(?![\w-])/g,
  },
  { kind: "phone", expression: /(?<![\w+.-])0[1-9]\d{1,4}[ \t./_-]{1,3}\d{2,4}(?:[ \t./_-]?\d){3,8}(?![\w-])/g },
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
    if (/[A-Za-z\d]/.test(candidate[at]!)) plain += candidate[at];
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
