import { ArrowUp, ListPlus, Paperclip, Square, X } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, useRef, useState } from 'react'
import { forgetUpload, upload, useUploads } from '../../lib/uploads.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ProgressBar } from '../../ui/states.tsx'

const t = texts.chat

interface ComposerProps {
  assistantId: string | undefined
  isBusy: boolean
  /** Resolves to whether the message was accepted; otherwise the text is kept. */
  onSend: (text: string) => Promise<boolean>
  onStop: () => void
  children?: React.ReactNode
}

/** The field for messages. Files that are dropped here are added to the assistant's knowledge. */
export function Composer({ assistantId, isBusy, onSend, onStop, children }: ComposerProps) {
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const [isDragging, setDragging] = useState(false)
  const fileInput = useRef<HTMLInputElement>(null)
  const uploads = useUploads(assistantId)
  const send = async () => {
    const message = text.trim()
    if (message === '' || isSending) return
    setSending(true)
    setText('')
    if (!(await onSend(message))) setText(message)
    setSending(false)
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
    void send()
  }
  return (
    <div className="composer-wrap">
      <form
        className="composer"
        data-dragging={isDragging}
        onSubmit={(event) => {
          event.preventDefault()
          void send()
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
          onChange={(event) => setText(event.target.value)}
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
            disabled={text.trim() === '' || isSending}
          >
            {isBusy ? <ListPlus size={18} aria-hidden="true" /> : <ArrowUp size={18} aria-hidden="true" />}
          </Button>
        </div>
      </form>
    </div>
  )
}
