import { isCoveredKey, looksLikeKey, NO_SECRETS } from "../config/secrets.ts";
import { escapeRegExp } from "../kit/index.ts";
import { type Field, leavesOf } from "./source.ts";

/** Beginnings of keys that the imported tools and providers give out, also of short ones. */
const KEY_START =
  /(?:^|[\s:=/@"'])(?:sk-|rk_|pk-|gsk_|xai-|pplx-|AIza|AKIA|ASIA|ghp_|github_pat_|glpat-|hf_|nvapi-|xox[abp]-|r8_|fw_|csk-|tgp_|ya29\.|eyJ|Bearer |-----BEGIN )/;
/** A run of letters and digits that no name of a model or host has. */
const RANDOM = /[A-Za-z0-9+=]{40,}|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{30,}/;
const MIN_KEY_CHARACTERS = 8;
/** What could also be a word of the configuration is looked for elsewhere only if its own key says that it is a secret. */
const WORD = /^[a-z]+(?:[ _-][a-z]+)*$/i;
const SINGLE_WORD = /^[a-z]+$/i;
const URL_PARTS = /^[a-z][a-z0-9+.-]*:\/\/([^\s/?#]*@)?[^\s?#]*(\?[^\s#]*)?(#.*)?$/i;
const SECRET_KEY =
  /(?:^|[^a-z])keys?$|secret|token|passw|credential|authorization|cookie|salt$|dsn$|webhook|private_key/i;
/** A path of a file with a secret is not a secret itself. */
const FILE = /^[\w./~ -]+\.(?:json|pem|crt|ya?ml)$/;
/** Keys that only sound like a secret. */
const NO_SECRET_KEY =
  /(?:tokens?(?:_(?:cost|limit|count|ttl))?|per_token|per_million|_keys?_(?:ttl|size|header_name|alias)|key_name|credential_name|cost)$/i;

/** Texts of the source that nothing written may hold. */
export class Secrets {
  readonly #texts = new Set<string>();
  readonly #isReference: (text: string) => boolean;

  /** @param isReference whether a text only names a variable. */
  constructor(isReference: (text: string) => boolean) {
    this.#isReference = isReference;
  }

  /** Looks for secrets in a whole file: by their keys, as parts of URLs, and by how they look. */
  scan(root: Field): void {
    for (const leaf of leavesOf(root)) {
      const { text } = leaf;
      if (text === null || this.#isReference(text) || FILE.test(text)) continue;
      const keys = leaf.path.split(/[.[\]"#]+/);
      if (isSecretKey(keys.findLast((key) => key !== "" && !/^\d+$/.test(key)) ?? "") || looksLikeSecret(text))
        this.note(text);
      else if (keys.some(isSecretKey) && !WORD.test(text)) this.note(text);
      for (const part of secretPartsOf(text)) this.note(part);
    }
  }

  note(text: string): void {
    const whole = text.trim();
    if (whole.length < MIN_KEY_CHARACTERS || NO_SECRETS.has(whole) || SINGLE_WORD.test(whole)) return;
    if (/^(?:[-+\d._]+|true|false)$/i.test(whole)) return;
    this.#texts.add(whole);
    for (const line of whole.split(/\s+/)) if (line.length >= 16 && !WORD.test(line)) this.#texts.add(line);
  }

  /** True if a text of the source may be written: it is no secret, does not hold one, and does not look like one. */
  isPublic(text: string): boolean {
    return (
      !looksLikeSecret(text) && secretPartsOf(text).length === 0 && ![...this.#texts].some((one) => text.includes(one))
    );
  }

  /** The last net below everything that is written. */
  hide(written: string): string {
    const texts = [...this.#texts].filter((text) => written.includes(text));
    if (texts.length === 0) return written;
    const longestFirst = texts.toSorted((a, b) => b.length - a.length).map(escapeRegExp);
    return written.replaceAll(new RegExp(longestFirst.join("|"), "g"), "hidden");
  }
}

export function isSecretKey(key: string): boolean {
  return !NO_SECRET_KEY.test(key) && (isCoveredKey(key) || SECRET_KEY.test(key));
}

export function looksLikeSecret(text: string): boolean {
  return looksLikeKey(text) || (text.length >= MIN_KEY_CHARACTERS && KEY_START.test(text)) || RANDOM.test(text);
}

/** `Server=db;Password=…`, as connection strings without a scheme have them. */
const ASSIGNED = /(?:password|passwd|pwd|secret|token|key)\s*=\s*([^;&\s]+)/gi;

/** User and password, and query, of a URL, and passwords of other connection strings. */
function secretPartsOf(text: string): readonly string[] {
  const [, user = "", query = "", fragment = ""] = URL_PARTS.exec(text) ?? [];
  const values = [...query.matchAll(/=([^&]*)/g)].map(([, value]) => value!);
  const parts = [user.slice(0, -1), ...user.slice(0, -1).split(":"), query.slice(1), ...values, fragment.slice(1)];
  for (const [, value] of text.matchAll(ASSIGNED)) parts.push(value!);
  return parts.filter((part) => part !== "");
}

/** Names of variables for secrets that stand in the source. */
export class Variables {
  readonly #byText = new Map<string, string>();
  readonly #names = new Set<string>();
  readonly #used = new Set<string>();

  /** A name that the source uses itself is not given to anything else. */
  reserve(name: string): void {
    this.#names.add(variableName(name));
  }

  /** The name of a variable that the new configuration refers to. */
  use(name: string): string {
    const usable = variableName(name);
    this.#names.add(usable);
    this.#used.add(usable);
    return usable;
  }

  /** The name for a secret: the same for the same text. */
  nameOf(text: string, wanted: string): string {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const base = variableName(wanted);
    let name = base;
    for (let number = 2; this.#names.has(name); number++) name = `${base}_${number}`;
    this.#names.add(name);
    this.#used.add(name);
    this.#byText.set(text, name);
    return name;
  }

  /** Those that the new configuration refers to, to be set before a start. */
  get used(): readonly string[] {
    return [...this.#used].toSorted();
  }
}

/** As a shell and `.env` take it: letters, digits and `_`, in capitals unless it had small letters. */
export function variableName(wanted: string): string {
  const plain = wanted.replaceAll(/\W+/g, "_").replaceAll(/^_+|_+$/g, "");
  return /^[A-Za-z_]/.test(plain) ? plain : `KEY_${plain}`;
}

/** A text of the source as the value of a key: `${` is no reference. */
export function literal(text: string): string {
  return text.replaceAll("${", () => "$${");
}
