/**
 * Whether a text matches a glob: `*` is anything but `/`, `**` anything. No pattern is made of it; the work is at most
 * the product of both lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const tokens = tokensOf(glob)
  /** Whether the tokens so far match the first characters of the text, for each number of them. */
  let reached = new Uint8Array(text.length + 1)
  reached[0] = 1
  for (const token of tokens) {
    const next = new Uint8Array(text.length + 1)
    if (token.length === 1 && token !== '*') {
      for (let at = 0; at < text.length; at++) if (reached[at] === 1 && text[at] === token) next[at + 1] = 1
    } else {
      let open = false
      for (let at = 0; at <= text.length; at++) {
        if (token === '*' && at > 0 && text[at - 1] === '/') open = false
        open ||= reached[at] === 1
        if (open) next[at] = 1
      }
    }
    reached = next
  }
  return reached[text.length] === 1
}

function tokensOf(glob: string): string[] {
  const tokens: string[] = []
  for (const character of glob.replaceAll(/\*{2,}/g, '\0')) tokens.push(character === '\0' ? '**' : character)
  return tokens
}
