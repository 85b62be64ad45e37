import { useEffect, useRef } from 'react'
import { textOfAnswer, type Turn } from '../../../lib/conversation.ts'
import { changedText } from '../../../lib/document-answers.ts'
import { readNote, splitNote } from '../../../lib/document-note.ts'
import { longestDocument, putVersion, useDocuments } from '../../../lib/documents.ts'

interface TakeProps {
  threadId: string
  turns: Turn[]
  isOver: (turn: Turn) => boolean
}

/**
 * Makes versions of what answers have changed in documents. It reads the chat: an answer that came while nobody looked is
 * taken when the chat is opened again, and one that was taken is not taken twice.
 */
export default function TakeAnswers({ threadId, turns, isOver }: TakeProps) {
  const documents = useDocuments(threadId)
  const taken = useRef(new Set<string>())
  useEffect(() => {
    const seen = new Set<string>()
    for (const turn of turns.toReversed()) {
      const noted = readNote(splitNote(turn.human?.data.content ?? '').note)
      // Only the newest question about each: earlier ones were followed by other versions.
      if (noted === undefined || seen.has(noted.id)) continue
      seen.add(noted.id)
      const found = documents.data?.find(({ document_id: id }) => id === noted.id)
      const messageId = turn.answers.at(-1)?.data.id
      const newest = found?.versions.at(-1)
      if (found === undefined || newest === undefined || messageId === undefined || !isOver(turn)) continue
      if (taken.current.has(messageId) || found.versions.some(({ message_id: id }) => id === messageId)) continue
      const content = changedText(turn.answers.map(textOfAnswer), found.language)
      if (content === undefined || content.length > longestDocument) continue
      taken.current.add(messageId)
      const { name, language } = found
      // Another tab may be quicker; the list that is read again says so.
      putVersion(threadId, noted.id, { name, language, content, message_id: messageId, base: newest.number }).catch(
        () => taken.current.delete(messageId),
      )
    }
  }, [threadId, turns, isOver, documents.data])
  return undefined
}
