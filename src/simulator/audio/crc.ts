/** The check sum of FLAC and Ogg: most significant bit first, nothing inverted, starting from 0. */
export function crc(bytes: Uint8Array, width: 8 | 16 | 32, polynomial: number): number {
  // Kept at the top of 32 bits, where one shift serves every width.
  const aligned = polynomial << (32 - width);
  let register = 0;
  for (const byte of bytes) {
    register ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) register = register < 0 ? (register << 1) ^ aligned : register << 1;
  }
  return register >>> (32 - width);
}
