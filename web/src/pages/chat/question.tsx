import { ChevronLeft, ChevronRight, FileText, Pencil } from 'lucide-react'
import { Suspense, use } from 'react'
import type { Schemas } from '../../lib/api.ts'
import type { Turn } from '../../lib/conversation.ts'
import { readQuestion } from '../../lib/document-note.ts'
import { sentPictures } from '../../lib/pictures.ts'
import { texts } from '../../texts/index.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { OpenDocumentContext } from './documents/context.ts'

const MessagePictures = lazyPart(() => import('./message-pictures.tsx'))
const t = texts.chat

interface QuestionProps {
  turn: Turn
  /** Who wrote it, in a chat that others see. */
  author?: Schemas['Maker'] | undefined
  /** Undefined while an answer is under way. */
  onEdit: (() => void) | undefined
  /** For what a message waits whose answer has not begun. */
  waitsFor: string
  /** Shows another version, by the id of its question. */
  onVersion: (questionId: string) => void
}

/** What a person wrote, with the way to its other versions. */
export function Question({ turn: { human, isWaiting, versions }, author, onEdit, waitsFor, onVersion }: QuestionProps) {
  const openDocument = use(OpenDocumentContext)
  if (human === undefined) return undefined
  const { words, noted } = readQuestion(human.data.content)
  const hasPictures = sentPictures(human.data.id) ?? human.data.parts?.some(({ type }) => type === 'image')
  return (
    <article className="turn-human" aria-label={author?.name ?? t.you} data-message={human.data.id} tabIndex={-1}>
      {author && (
        <div className="author">
          <Avatar name={author.name} id={author.user_id} size={20} />
          {author.name}
        </div>
      )}
      {hasPictures && (
        <Suspense>
          <MessagePictures message={human} />
        </Suspense>
      )}
      {words !== '' && (
        <div className={isWaiting ? 'bubble bubble-waiting' : 'bubble'} dir="auto">
          {words}
        </div>
      )}
      {noted && (
        <Button
          size="small"
          disabled={openDocument === undefined}
          onClick={() => openDocument?.({ documentId: noted.id, number: noted.version })}
        >
          <FileText size={14} aria-hidden="true" />
          {t.withDocument(noted.name, noted.version)}
        </Button>
      )}
      <div className="turn-tools" data-shown={isWaiting || versions.ids.length > 1}>
        {isWaiting ? (
          waitsFor
        ) : (
          <>
            {onEdit && <IconButton label={t.editMessage} icon={<Pencil size={15} />} onClick={onEdit} />}
            <VersionSteps ids={versions.ids} shown={human.data.id} onVersion={onVersion} />
          </>
        )}
      </div>
    </article>
  )
}

function VersionSteps(props: { ids: string[]; shown: string; onVersion: (id: string) => void }) {
  const { ids, shown, onVersion } = props
  if (ids.length < 2) return undefined
  const place = ids.indexOf(shown)
  const to = (id: string | undefined) => id !== undefined && onVersion(id)
  return (
    <div className="versions" role="group" aria-label={t.versions}>
      <IconButton
        label={t.previousVersion}
        icon={<ChevronLeft size={15} />}
        aria-disabled={place <= 0}
        onClick={() => to(ids[place - 1])}
      />
      <span aria-live="polite">{t.versionOf(place + 1, ids.length)}</span>
      <IconButton
        label={t.nextVersion}
        icon={<ChevronRight size={15} />}
        aria-disabled={place + 1 >= ids.length}
        onClick={() => to(ids[place + 1])}
      />
    </div>
  )
}
