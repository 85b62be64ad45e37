import { FileText } from 'lucide-react'
import { use } from 'react'
import { readNote } from '../../../lib/document-answers.ts'
import { splitNote } from '../../../lib/document-note.ts'
import { documentMessages as t } from '../../../texts/documents.ts'
import { Button } from '../../../ui/button.tsx'
import { OpenDocumentContext } from './context.ts'

/** A question about a document: its words, and the document in place of its text. */
export default function NotedQuestion({ content, isWaiting }: { content: string; isWaiting: boolean }) {
  const open = use(OpenDocumentContext)
  const { text, note } = splitNote(content)
  const noted = readNote(note)
  return (
    <>
      {text !== '' && (
        <div className={isWaiting ? 'bubble bubble-waiting' : 'bubble'} dir="auto">
          {noted ? text : content}
        </div>
      )}
      {noted && (
        <Button
          size="small"
          disabled={open === undefined}
          onClick={() => open?.({ documentId: noted.id, number: noted.version })}
        >
          <FileText size={14} aria-hidden="true" />
          {t.withDocument(noted.name, noted.version)}
        </Button>
      )}
    </>
  )
}
