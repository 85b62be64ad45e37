/** A letter that is not this one: what is signed or sealed is another text with it. */
export const otherLetter = (letter: string): string => (letter === 'A' ? 'B' : 'A')
