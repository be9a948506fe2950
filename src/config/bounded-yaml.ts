import {
  Composer,
  type Document,
  type DocumentOptions,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  YAMLParseError,
} from "yaml";

/** Levels of maps and lists in each other (decisions 10.6). */
export const MOST_LEVELS = 100;
/** A level takes the parser up to three open tokens; the document's own is one more. */
const MOST_OPEN_TOKENS = 3 * MOST_LEVELS + 1;

/** What YAML 1.2 (5.1) forbids in a file: C0 but tab and line ends, DEL, C1 but NEL. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/;

export interface ControlCharacter {
  readonly offset: number;
  /** For people, such as `U+0000`. */
  readonly name: string;
}

/** The first character that no YAML file may have; null when there is none. */
export function controlCharacter(text: string): ControlCharacter | null {
  const offset = text.search(CONTROL);
  if (offset < 0) return null;
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, "0");
  return { offset, name: `U+${code}` };
}

/** Nesting that is given up before it is read to its end. */
export class TooDeep extends Error {
  override readonly name = "TooDeep";
  readonly offset: number;

  constructor(offset: number) {
    super("is nested too deeply");
    this.offset = offset;
  }
}

/**
 * As `parseDocument` of the library, whose time and stack grow with the depth of the text. @throws TooDeep while parsing,
 * as soon as more than three times `MOST_LEVELS` tokens are open.
 */
export function parseBounded(text: string, options: DocumentOptions & ParseOptions & SchemaOptions): Document.Parsed {
  const parser = new BoundedParser(options.lineCounter?.addNewLine);
  let document: Document.Parsed | null = null;
  for (const next of new Composer(options).compose(parser.parse(text), true, text.length)) {
    if (document === null) document = next;
    else {
      const [from, to] = next.range;
      document.errors.push(new YAMLParseError([from, to], "MULTIPLE_DOCS", "more than one document"));
      break;
    }
  }
  // The composer makes a document of an empty text, too.
  return document!;
}

class BoundedParser extends Parser {
  override *next(lexeme: string): ReturnType<Parser["next"]> {
    yield* super.next(lexeme);
    if (this.stack.length > MOST_OPEN_TOKENS) throw new TooDeep(this.offset);
  }
}
