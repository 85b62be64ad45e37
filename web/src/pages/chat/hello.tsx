import { Link } from '@tanstack/react-router'
import { FileText, Hand, SlidersHorizontal } from 'lucide-react'
import { useRef } from 'react'
import { type Assistant, configKey, useFiles, useMe } from '../../lib/api.ts'
import { useMembership } from '../../lib/membership.ts'
import { upload } from '../../lib/uploads.ts'
import { texts } from '../../texts/index.ts'
import { Face } from '../../ui/face.tsx'

const t = texts.chat

/** The greeting of a chat that has no messages yet. */
export function Hello({ assistant }: { assistant: Assistant }) {
  const files = useFiles(assistant.assistant_id)
  const me = useMe()
  const ready = files.data?.files.filter(({ metadata }) => metadata.status === 'ready').length ?? 0
  const description = assistant.config[configKey.description]
  return (
    <div className="hello">
      <Face name={assistant.name} size={56} />
      <h2 className="hello-title">{me.data?.first_name ? t.helloTitleNamed(me.data.first_name) : t.helloTitle}</h2>
      <p className="muted clamp">{description || (ready > 0 ? t.filesReady(ready) : t.helloText)}</p>
    </div>
  )
}

interface StartersProps {
  assistant: Assistant
  /** The chat to which the files are added. */
  chat: string
  onSend: (text: string) => void
}

/** What one can begin with: the assistant's own starters, or, without them, what every assistant can do. */
export function Starters({ assistant, chat, onSend }: StartersProps) {
  const input = useRef<HTMLInputElement>(null)
  const aid = assistant.assistant_id
  const canEdit = useMembership().may('editor')
  const own = assistant.config[configKey.starters] ?? []
  return (
    <div className="starters">
      {canEdit && (
        <>
          <input
            ref={input}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              if (event.target.files) upload(aid, event.target.files, chat)
              event.target.value = ''
            }}
          />
          <button type="button" className="starter" onClick={() => input.current?.click()}>
            <FileText size={16} aria-hidden="true" />
            {t.suggestFiles}
          </button>
        </>
      )}
      {own.map((starter, place) => (
        <button key={place} type="button" className="starter" onClick={() => onSend(starter)}>
          {starter}
        </button>
      ))}
      {own.length === 0 && (
        <>
          <button type="button" className="starter" onClick={() => onSend(t.suggestHelloText)}>
            <Hand size={16} aria-hidden="true" />
            {t.suggestHello}
          </button>
          {canEdit && (
            <Link to="/console/assistants/$assistantId" params={{ assistantId: aid }} className="starter">
              <SlidersHorizontal size={16} aria-hidden="true" />
              {t.suggestAssistant}
            </Link>
          )}
        </>
      )}
    </div>
  )
}
