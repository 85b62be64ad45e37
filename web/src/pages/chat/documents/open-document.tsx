import { FileText } from 'lucide-react'
import { use } from 'react'
import { documentIdOf, longestDocument } from '../../../lib/documents.ts'
import { documentMessages as t } from '../../../texts/documents.ts'
import { IconButton } from '../../../ui/button.tsx'
import { OpenDocumentContext } from './context.ts'

interface OpenProps {
  messageId: string
  language: string
  content: string
}

/** Opens a part of an answer as a document beside the chat. */
export default function OpenDocument(begin: OpenProps) {
  const open = use(OpenDocumentContext)
  if (open === undefined || begin.content.trim() === '' || begin.content.length > longestDocument) return undefined
  return (
    <IconButton
      label={t.open}
      icon={<FileText size={15} />}
      onClick={() => open({ documentId: documentIdOf(begin.messageId, begin.content), begin })}
    />
  )
}
