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
