import { Link } from '@tanstack/react-router'
import { Bot, FileText, Hand, SlidersHorizontal } from 'lucide-react'
import { useRef } from 'react'
import { type Assistant, configKey, useFiles } from '../../lib/api.ts'
import { upload } from '../../lib/uploads.ts'
import { texts } from '../../texts/index.ts'

const t = texts.chat

/** Suggestions for new users. */
export function Hello({ assistant, onSend }: { assistant: Assistant; onSend: (text: string) => void }) {
  const files = useFiles(assistant.assistant_id)
  const input = useRef<HTMLInputElement>(null)
  const ready = files.data?.files.filter(({ metadata }) => metadata.status === 'ready').length ?? 0
  const description = assistant.config[configKey.description]
  return (
    <div className="hero">
      <span className="avatar avatar-large" aria-hidden="true">
        <Bot size={26} />
      </span>
      <h2>{t.helloTitle(assistant.name)}</h2>
      <p>{description || t.helloText}</p>
      {ready > 0 && <p className="small">{t.filesReady(ready)}</p>}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          if (event.target.files) void upload(assistant.assistant_id, event.target.files)
        }}
      />
      <div className="suggestions">
        <button type="button" className="suggestion" onClick={() => input.current?.click()}>
          <FileText size={18} aria-hidden="true" />
          <strong>{t.suggestFiles}</strong>
          <span className="small muted">{t.suggestFilesText}</span>
        </button>
        <button type="button" className="suggestion" onClick={() => onSend(t.suggestHelloText)}>
          <Hand size={18} aria-hidden="true" />
          <strong>{t.suggestHello}</strong>
          <span className="small muted">{t.suggestHelloText}</span>
        </button>
        <Link
          to="/console/assistants/$assistantId"
          params={{ assistantId: assistant.assistant_id }}
          className="suggestion"
        >
          <SlidersHorizontal size={18} aria-hidden="true" />
          <strong>{t.suggestAssistant}</strong>
          <span className="small muted">{t.suggestAssistantText}</span>
        </Link>
      </div>
    </div>
  )
}
