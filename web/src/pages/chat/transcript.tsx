import { splitNote } from '../../lib/document-note.ts'
import { texts } from '../../texts/index.ts'
import { Markdown } from './markdown.tsx'

export interface TranscriptMessage {
  id: string
  isOwn: boolean
  text: string
  /** What came with it, and what it was answered from. */
  files: string[]
}

const t = texts.chat

/** A chat to read or print, without anything to press. */
export function Transcript({ messages }: { messages: TranscriptMessage[] }) {
  return (
    <div className="transcript">
      {messages.map(({ id, isOwn, text, files }) => (
        <article key={id} className={isOwn ? 'transcript-own' : undefined}>
          <h2>{isOwn ? t.you : t.assistant}</h2>
          {isOwn ? (
            <div className="transcript-text" dir="auto">
              {splitNote(text).text}
            </div>
          ) : (
            <Markdown text={text} />
          )}
          {files.length > 0 && (
            <p className="muted small">{t.filesOf(files.map((name) => name || t.unnamedFile).join(', '))}</p>
          )}
        </article>
      ))}
    </div>
  )
}
