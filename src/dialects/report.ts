import { AttemptError, type Call, type GatewayError, invalidRequest, isJson, type Json } from "../kit/index.ts";
import { clientPointer, dropped, droppedBeside, droppedNative } from "./pointers.ts";

/** Gathers what of a call has no place in the dialect. Pointers given are those of the canonical body. */
export class Report {
  readonly #call: Call;
  readonly #dropped = new Set<string>();

  constructor(call: Call) {
    this.#call = call;
  }

  /** In the client's terms, each once. */
  get dropped(): readonly string[] {
    return [...this.#dropped];
  }

  /** How many were dropped; `dropped` is a copy of them all. */
  get count(): number {
    return this.#dropped.size;
  }

  drop(pointer: string): void {
    this.#dropped.add(clientPointer(this.#call, pointer));
  }

  /** Reports what stands beside the known fields of the object at `at`; a `type` only names what the object is. */
  dropBeside(object: Json, known: ReadonlySet<string>, at: string): void {
    const native = isJson(object["native"]) ? { ...object["native"], type: undefined } : undefined;
    for (const pointer of droppedBeside({ ...object, type: undefined, native }, known, at)) this.drop(pointer);
  }

  /** Reports the top-level fields that are not among the read ones, and those that only the client's dialect has. */
  dropRest(read: ReadonlySet<string>): void {
    this.dropFields(read);
    this.dropNative();
  }

  /** Reports the top-level fields that are not among the read ones. */
  dropFields(read: ReadonlySet<string>): void {
    for (const pointer of dropped(this.#call.body, read)) this.drop(pointer);
  }

  /** Reports the fields that only the client's dialect has. */
  dropNative(): void {
    for (const pointer of droppedNative(this.#call)) this.#dropped.add(pointer);
  }

  /** Reports what of a schema at `at` was dropped. */
  dropOf({ dropped }: { readonly dropped: readonly string[] }, at: string): void {
    for (const pointer of dropped) this.drop(at + pointer);
  }

  /** The refusal of a body that cannot be written down. */
  refusal(pointer: string, what: string): GatewayError {
    return invalidRequest(clientPointer(this.#call, pointer), what);
  }

  /** The failure of a call of which nothing would be left: another step of the chain may express it. */
  unsupported(pointer: string): AttemptError {
    return new AttemptError("unsupported", `${clientPointer(this.#call, pointer)} cannot be expressed for this model`);
  }
}
