import { createHash } from 'node:crypto'

/**
 * Text that is slow to tokenise, about three seconds for a million characters: no spaces, and no word occurs twice, so
 * that no cache helps. Different for each `seed`.
 */
export function slowText(characters: number, seed = 1): string {
  const bytes = createHash('shake256', { outputLength: characters }).update(String(seed)).digest()
  return Buffer.from(bytes.map((byte) => 97 + (byte % 26))).toString('latin1')
}
