/**
 * Text that is slow to tokenise, about three seconds for a million characters: no spaces, and no word occurs twice, so
 * that no cache helps. Different for each `seed`.
 */
export function slowText(characters: number, seed = 1): string {
  const letters = new Uint8Array(characters)
  let state = seed
  for (let index = 0; index < characters; index++) {
    // A linear congruential generator with the multiplier and increment of the C standard's example.
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    letters[index] = 97 + ((state >>> 16) % 26)
  }
  return Buffer.from(letters).toString('latin1')
}
