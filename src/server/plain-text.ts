/** Longer texts are looked through in parts. */
const PART_BYTES = 256 * 1024;
const BLOCK_BYTES = 16;
const SPACE = 0x20;

/**
 * Says whether memory from 0 to `$end` has a byte below 0x20 or a backslash, 16 bytes at a time. Written as bytes, for there
 * is nothing else to compile:
 *
 *   (memory (export "m") 5)
 *   (func (export "f") (param $end i32) (result i32) (local $at i32) (local $block v128) (local $found v128)
 *     (loop $next
 *       (local.set $block (v128.load (local.get $at)))
 *       (local.set $found
 *         (v128.or (local.get $found)
 *           (v128.or (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 0x20)))
 *                    (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x5c))))))
 *       (local.set $at (i32.add (local.get $at) (i32.const 16)))
 *       (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
 *     (v128.any_true (local.get $found)))
 */
// prettier-ignore
const MODULE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
  // types, functions, memory, exports
  0x01, 0x06, 0x01, 0x60, 0x01, 0x7f, 0x01, 0x7f,
  0x03, 0x02, 0x01, 0x00,
  0x05, 0x03, 0x01, 0x00, 0x05,
  0x07, 0x09, 0x02, 0x01, 0x6d, 0x02, 0x00, 0x01, 0x66, 0x00, 0x00,
  // code: sizes, locals
  0x0a, 0x3c, 0x01, 0x3a, 0x02, 0x01, 0x7f, 0x02, 0x7b,
  0x03, 0x40,
  0x20, 0x01, 0xfd, 0x00, 0x00, 0x00, 0x21, 0x02,
  0x20, 0x03,
  0x20, 0x02, 0x41, 0x20, 0xfd, 0x0f, 0xfd, 0x26,
  0x20, 0x02, 0x41, 0xdc, 0x00, 0xfd, 0x0f, 0xfd, 0x23,
  0xfd, 0x50, 0xfd, 0x50, 0x21, 0x03,
  0x20, 0x01, 0x41, 0x10, 0x6a, 0x22, 0x01,
  0x20, 0x00, 0x49, 0x0d, 0x00,
  0x0b,
  0x20, 0x03, 0xfd, 0x53,
  0x0b,
]);

/** As much of it as is used here: Node has no types for it. */
declare const WebAssembly: {
  validate(module: Uint8Array): boolean;
  readonly Module: new (module: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Exports {
  readonly m: { readonly buffer: ArrayBuffer };
  readonly f: (end: number) => number;
}

/** Looks through bytes in memory of its own: nothing stays there between two texts. */
export class PlainText {
  readonly #exports: Exports | null;
  readonly #place: Uint8Array;

  /** @param module null: a processor without the instructions. */
  constructor(module: Uint8Array | null = WebAssembly.validate(MODULE) ? MODULE : null) {
    this.#exports = module && (new WebAssembly.Instance(new WebAssembly.Module(module)).exports as Exports);
    this.#place = new Uint8Array(this.#exports?.m.buffer ?? new ArrayBuffer(0));
  }

  /**
   * Whether a JSON text of these bytes is valid, and decoding them is all there is to reading it. False where that cannot be
   * told.
   * @param bytes UTF-8.
   */
  is(bytes: Uint8Array): boolean {
    if (this.#exports === null) return false;
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      const part = bytes.subarray(at, at + PART_BYTES);
      this.#place.set(part);
      this.#place.fill(SPACE, part.length, part.length + BLOCK_BYTES);
      if (this.#exports.f(part.length) !== 0) return false;
    }
    return true;
  }
}
