/** An assistant that is to answer, or a file that is to be searched, named in a message. */
export interface Mention {
  sign: '@' | '#'
  id: string
  name: string
  /** Of a file: the assistant that has it. */
  assistantId?: string | undefined
}

/** What a question is to be answered by, and from. */
export interface Addressed {
  assistantId?: string
  files?: { id: string; name: string }[]
}

/** Not the beginning of a heading: a name begins at once. */
const unfinished = /(?:^|\s)([@#])((?:[^\s@#][^\n@#]{0,59})?)$/

/** What is being named just before the caret; undefined if nothing is. */
export function mentionAt(text: string, caret: number): { sign: '@' | '#'; start: number; wanted: string } | undefined {
  const [, sign, wanted] = unfinished.exec(text.slice(Math.max(0, caret - 62), caret)) ?? []
  if ((sign !== '@' && sign !== '#') || wanted === undefined) return undefined
  return { sign, wanted, start: caret - wanted.length - 1 }
}

/** Of what was chosen in the list, what still stands in the message. The last assistant answers; files are its own. */
export function addressedIn(text: string, mentions: readonly Mention[], assistantId: string | undefined): Addressed {
  const named = mentions.filter(({ sign, name }) => text.includes(`${sign}${name}`))
  const answering = named.findLast(({ sign }) => sign === '@')?.id
  const files = named.filter(({ sign, assistantId: owner }) => sign === '#' && owner === (answering ?? assistantId))
  return {
    ...(answering !== undefined && { assistantId: answering }),
    ...(files.length > 0 && {
      files: [...new Map(files.map(({ id, name }) => [id, { id, name }])).values()].slice(0, 20),
    }),
  }
}
