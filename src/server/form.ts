import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { escapeSegment, GatewayError, invalidRequest, type Json } from "../kit/index.ts";
import type { ByteClaim } from "./byte-budget.ts";
import { type BodyParts, brokenOff, requireIdentity, tooLarge } from "./request-body.ts";
import { type HttpExchange, sendContinue } from "./respond.ts";
import { type StoredUpload, storeUpload } from "./upload.ts";

/** The one part that is a file. */
const FILE = "file";
const MAX_FIELDS = 64;
const MAX_NAME_CHARACTERS = 128;
const MAX_VALUE_BYTES = 64 * 1024;
const FORM_TYPE = /^multipart\/form-data *(?:;|$)/i;

/** A form with its file; text fields as they came, those named `…[]` as lists. */
export interface Form {
  readonly fields: Json;
  readonly upload: StoredUpload;
}

/** @throws GatewayError 415 unless the body is announced as a plain form. */
function requireForm({ headers }: IncomingMessage): void {
  if (!FORM_TYPE.test(headers["content-type"] ?? "")) {
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be multipart/form-data");
  }
  requireIdentity(headers);
}

/**
 * A form of at most `limit` bytes whose parts may come in any order. Its file is written away as it comes, no faster than
 * it can be. The caller disposes of the upload; when this throws there is none.
 * @throws GatewayError 415, 413, 400 for anything but whole fields and one file or when the client leaves, 503 when the
 * gateway stops or there is no space.
 */
export async function readForm(http: HttpExchange, limit: number, { signal, claim }: BodyParts): Promise<Form> {
  const { req } = http;
  requireForm(req);
  sendContinue(http, limit);
  const announced = Number(req.headers["content-length"] ?? 0);
  if (announced > limit) throw tooLarge(limit);
  if (req.destroyed || signal?.aborted) throw brokenOff(signal);
  claim?.hold(announced);
  return new FormReader(req, { limit, announced, signal, claim }).read();
}

class FormReader {
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #announced: number;
  readonly #signal: AbortSignal | undefined;
  readonly #claim: ByteClaim | undefined;
  readonly #parser: BusboyInstance;
  readonly #done = Promise.withResolvers<Form>();
  readonly #fields = new Map<string, string | string[]>();
  #received = 0;
  #file: Readable | null = null;
  #upload: StoredUpload | null = null;
  #parsed = false;
  #over = false;

  constructor(
    req: IncomingMessage,
    bounds: {
      readonly limit: number;
      readonly announced: number;
      readonly signal: AbortSignal | undefined;
      readonly claim: ByteClaim | undefined;
    },
  ) {
    this.#req = req;
    this.#limit = bounds.limit;
    this.#announced = bounds.announced;
    this.#signal = bounds.signal;
    this.#claim = bounds.claim;
    this.#parser = createParser(req);
  }

  read(): Promise<Form> {
    this.#parser
      .on("drain", () => this.#over || this.#req.resume())
      .on("error", () => this.#fail(invalidRequest("/", "must be a whole multipart/form-data body")))
      .on("fieldsLimit", () => this.#fail(tooManyFields()))
      .on("partsLimit", () => this.#fail(tooManyFields()))
      .on("field", (name, value, _nameCut, valueCut) => this.#attempt(() => this.#addField(name, value, valueCut)))
      .on("file", (name, stream, fileName, _encoding, mediaType) => {
        // Told when the body ends too early, also after everyone has stopped listening.
        stream.on("error", () => {});
        this.#attempt(() => this.#addFile(name, stream, fileName, mediaType));
        if (this.#over) stream.resume();
      })
      .on("finish", () => this.#attempt(() => this.#finish()));
    this.#req.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose);
    this.#signal?.addEventListener("abort", this.#onClose);
    return this.#done.promise;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length;
    if (this.#received > this.#limit) return this.#fail(tooLarge(this.#limit));
    if (this.#received > this.#announced) this.#attempt(() => this.#claim?.hold(this.#received));
    if (!this.#over && !this.#parser.write(chunk)) this.#req.pause();
  };

  readonly #onEnd = (): void => {
    this.#req.off("close", this.#onClose);
    this.#parser.end();
  };

  readonly #onClose = (): void => this.#fail(brokenOff(this.#signal));

  #addField(name: string | undefined, value: string, cut: boolean): void {
    const pointer = pointerTo(name);
    if (cut) throw invalidRequest(pointer, `must be at most ${MAX_VALUE_BYTES} bytes`);
    const known = this.#fields.get(name!);
    if (Array.isArray(known)) known.push(value);
    else if (known === undefined) this.#fields.set(name!, name!.endsWith("[]") ? [value] : value);
    else throw invalidRequest(pointer, "must be given once");
  }

  #addFile(name: string | undefined, stream: Readable, fileName: string | undefined, mediaType: string): void {
    if (name !== FILE) throw invalidRequest(pointerTo(name), "must be text: only /file is a file");
    if (this.#file !== null) throw invalidRequest(`/${FILE}`, "must be given once");
    this.#file = stream;
    this.#store(stream, fileName, mediaType).catch((error: unknown) => this.#fail(error));
  }

  async #store(stream: Readable, fileName: string | undefined, mediaType: string): Promise<void> {
    const upload = await storeUpload(stream, fileName, mediaType);
    if (this.#over) return upload.dispose();
    this.#upload = upload;
    this.#settle();
  }

  #finish(): void {
    if (this.#file === null) throw invalidRequest(`/${FILE}`, "is required");
    this.#parsed = true;
    this.#settle();
  }

  /** The form's end and the last write to disk come in any order. */
  #settle(): void {
    if (!this.#parsed || this.#upload === null) return;
    this.#stop();
    // An own property for every field, whatever it is called.
    this.#done.resolve({ fields: Object.fromEntries(this.#fields), upload: this.#upload });
  }

  #attempt(step: () => void): void {
    if (this.#over) return;
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(reason: unknown): void {
    if (this.#over) return;
    this.#stop();
    this.#parser.destroy();
    // Ends its spooling, which cleans up after itself.
    this.#file?.destroy();
    // The file has no name: whatever closing it says, nothing is left of it.
    this.#upload?.dispose().catch(() => {});
    this.#done.reject(reason);
  }

  #stop(): void {
    this.#over = true;
    this.#req.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    this.#signal?.removeEventListener("abort", this.#onClose);
    this.#req.pause();
  }
}

function createParser({ headers }: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...headers, "content-type": headers["content-type"] ?? "" },
      limits: {
        fields: MAX_FIELDS,
        fieldSize: MAX_VALUE_BYTES,
        parts: MAX_FIELDS + 2,
        headerPairs: 16,
        headerSize: 16 * 1024,
      },
      isPartAFile: (name, _type, fileName) => name === FILE || fileName !== undefined,
    });
  } catch {
    throw invalidRequest("/", "must name its boundary in Content-Type");
  }
}

/** The JSON pointer to a field. @throws GatewayError 400 for a name that is missing or too long. */
function pointerTo(name: string | undefined): string {
  if (name === undefined || name === "") throw invalidRequest("/", "has a part without a name");
  if (name.length > MAX_NAME_CHARACTERS)
    throw invalidRequest("/", `has a field whose name is longer than ${MAX_NAME_CHARACTERS} characters`);
  return `/${escapeSegment(name)}`;
}

function tooManyFields(): GatewayError {
  return invalidRequest("/", `must not have more than ${MAX_FIELDS} fields`);
}
