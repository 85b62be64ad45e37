import { ArrowUp, ListPlus, Paperclip, Square, X } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, useRef, useState } from 'react'
import { keepDraft, readDraft } from '../../lib/drafts.ts'
import { forgetUpload, upload, useUploads } from '../../lib/uploads.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ProgressBar } from '../../ui/states.tsx'

const t = texts.chat

interface ComposerProps {
  /** The chat whose draft this is. */
  chat: string
  assistantId: string | undefined
  isBusy: boolean
  /** Resolves to whether the message was accepted; otherwise the text is kept. */
  onSend: (text: string) => Promise<boolean>
  onStop: () => void
  /** Whether a message is kept back while another one is being sent, instead of being sent after it. */
  isOneAtATime?: boolean
  children?: React.ReactNode
}

/** The field for messages. Files that are dropped here are added to the assistant's knowledge. */
export function Composer({ chat, assistantId, isBusy, onSend, onStop, isOneAtATime = false, children }: ComposerProps) {
  const [text, setText] = useState(() => readDraft(chat))
  const [sending, setSending] = useState(0)
  /** Messages are sent in the order in which they were written. */
  const lastSent = useRef(Promise.resolve())
  const [isDragging, setDragging] = useState(false)
  const fileInput = useRef<HTMLInputElement>(null)
  const uploads = useUploads(assistantId)
  const isHeld = isOneAtATime && sending > 0
  const write = (next: string) => {
    setText(next)
    keepDraft(chat, next)
  }
  const send = () => {
    const message = text.trim()
    if (message === '' || isHeld) return
    write('')
    setSending((count) => count + 1)
    lastSent.current = lastSent.current.then(async () => {
      // What was written meanwhile stays behind the message that comes back.
      if (!(await onSend(message))) write([message, readDraft(chat)].filter(Boolean).join('\n\n'))
      setSending((count) => count - 1)
    })
  }
  const add = (files: FileList | null) => {
    if (files?.length && assistantId !== undefined) void upload(assistantId, files)
  }
  const onDrag = (event: DragEvent, dragging: boolean) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setDragging(dragging)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className="composer-wrap">
      <form
        className="composer"
        data-dragging={isDragging}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
        onDragOver={(event) => onDrag(event, true)}
        onDragLeave={(event) => onDrag(event, false)}
        onDrop={(event) => {
          onDrag(event, false)
          add(event.dataTransfer.files)
        }}
      >
        {uploads.length > 0 && (
          <div className="attachments">
            {uploads.map((entry) => (
              <div key={entry.key} className="attachment">
                <div className="row">
                  <span className="grow truncate">{entry.name}</span>
                  {(entry.phase === 'failed' || entry.phase === 'ready') && (
                    <IconButton label={texts.close} icon={<X size={14} />} onClick={() => forgetUpload(entry.key)} />
                  )}
                </div>
                {entry.phase === 'failed' ? (
                  <span className="field-error">{entry.error}</span>
                ) : (
                  <>
                    <ProgressBar value={entry.progress} label={entry.name} />
                    <span className="muted">
                      {entry.phase === 'uploading' ? texts.knowledge.uploading : texts.knowledge.status[entry.phase]}
                    </span>
                  </>
                )}
              </div>
            ))}
          </div>
        )}
        <textarea
          aria-label={t.message}
          title={t.keysHelp}
          placeholder={isDragging ? t.dropHere : isBusy ? t.placeholderBusy : t.placeholder}
          rows={1}
          value={text}
          autoFocus
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-tools">
          <input
            ref={fileInput}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              add(event.target.files)
              event.target.value = ''
            }}
          />
          <IconButton
            label={t.attach}
            icon={<Paperclip size={18} />}
            disabled={assistantId === undefined}
            onClick={() => fileInput.current?.click()}
          />
          <div className="grow">{children}</div>
          {isBusy && (
            <Button size="small" onClick={onStop}>
              <Square size={13} fill="currentColor" aria-hidden="true" />
              {t.stop}
            </Button>
          )}
          <Button
            type="submit"
            look="primary"
            className="send"
            aria-label={isBusy ? t.queue : t.send}
            title={isBusy ? t.queue : t.send}
            disabled={text.trim() === '' || isHeld}
          >
            {isBusy ? <ListPlus size={18} aria-hidden="true" /> : <ArrowUp size={18} aria-hidden="true" />}
          </Button>
        </div>
      </form>
    </div>
  )
}
