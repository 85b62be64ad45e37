/**
 * What a question says of the document that was open beside the chat, behind its own words: which document and version, and
 * its text where the answers before do not have it. So the model knows it, and so does whoever reads the chat later.
 */
export const noteBegin = '\n\n<document id="'

/** The words of a question, and its note as it stands behind them. */
export function splitNote(content: string): { text: string; note: string } {
  const at = content.endsWith('</document>') || content.endsWith(' />') ? content.indexOf(noteBegin) : -1
  return at < 0 ? { text: content, note: '' } : { text: content.slice(0, at), note: content.slice(at) }
}

/** What is known of a document from a note. */
export interface Noted {
  id: string
  version: number
  name: string
  language: string
}

const head =
  /^\n\n<document id="([\w.~-]{1,128})" version="(\d{1,9})" name="([^"\n<>]{1,120})" language="([^"\n<>]{0,30})"/

/** What a note says; undefined if it is none. */
export function readNote(note: string): Noted | undefined {
  const [, id, version, name, language] = head.exec(note) ?? []
  if (id === undefined || name === undefined || language === undefined) return undefined
  return { id, version: Number(version), name, language }
}

/** What people see of a question: its words, and the document that it was about. */
export function readQuestion(content: string): { words: string; noted: Noted | undefined } {
  const { text, note } = splitNote(content)
  const noted = readNote(note)
  return { words: noted === undefined ? content : text, noted }
}
