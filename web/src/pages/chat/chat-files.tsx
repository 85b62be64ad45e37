import { Link } from '@tanstack/react-router'
import { FileText, Trash2, Upload as UploadIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import { type Assistant, useFiles, wordsOf } from '../../lib/api.ts'
import { addChatFile, removeChatFile, useChatFiles } from '../../lib/chat-files.ts'
import { formatBytes } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'

const t = texts.chatFiles
const badges = { queued: '', processing: 'badge-accent', ready: 'badge-ok', failed: 'badge-danger' }

interface ChatFilesProps {
  threadId: string
  assistant: Assistant | undefined
  onClose: () => void
}

/** The files that a chat is answered from: its own, and those of its assistant. */
export default function ChatFiles({ threadId, assistant, onClose }: ChatFilesProps) {
  return (
    <Dialog title={t.title} onClose={onClose} wide>
      <div className="stack">
        <OwnFiles threadId={threadId} />
        {assistant && <AssistantFiles assistant={assistant} />}
      </div>
    </Dialog>
  )
}

function OwnFiles({ threadId }: { threadId: string }) {
  const files = useChatFiles(threadId)
  const input = useRef<HTMLInputElement>(null)
  const [sending, setSending] = useState<string[]>([])
  const attempt = async (action: () => Promise<void>) =>
    action().catch((error: unknown) => say(wordsOf(error, texts.offline), 'danger'))
  const add = async (list: File[]) => {
    setSending(list.map(({ name }) => name))
    // One after the other: the first makes the place for all.
    for (const file of list) {
      await attempt(() => addChatFile(threadId, file))
      setSending(([, ...rest]) => rest)
    }
  }
  return (
    <section className="stack-small" aria-labelledby="chat-files-own">
      <div className="spread">
        <h3 id="chat-files-own">{t.own}</h3>
        <Button size="small" busy={sending.length > 0} onClick={() => input.current?.click()}>
          <UploadIcon size={14} aria-hidden="true" />
          {t.add}
        </Button>
      </div>
      <p className="muted small">{t.ownText}</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          void add([...(target.files ?? [])])
          target.value = ''
        }}
      />
      {files.isPending && <Skeleton lines={2} height={44} />}
      {files.isError && <Problem error={files.error} onRetry={() => void files.refetch()} />}
      {files.data?.length === 0 && sending.length === 0 && <p className="muted">{t.none}</p>}
      <ul className="file-list">
        {files.data?.map(({ id, name, bytes, status, error }) => (
          <Row key={id} name={name} bytes={bytes} status={status} error={error}>
            <IconButton
              label={t.remove(name)}
              icon={<Trash2 size={16} />}
              onClick={() => void attempt(() => removeChatFile(threadId, id))}
            />
          </Row>
        ))}
        {sending.map((name, place) => (
          <Row key={`${place} ${name}`} name={name} status="queued" />
        ))}
      </ul>
    </section>
  )
}

function AssistantFiles({ assistant: { assistant_id: assistantId, name } }: { assistant: Assistant }) {
  const files = useFiles(assistantId)
  return (
    <section className="stack-small" aria-labelledby="chat-files-assistant">
      <div className="spread">
        <h3 id="chat-files-assistant">{t.ofAssistant(name)}</h3>
        <Link to="/console/assistants/$assistantId" params={{ assistantId }} search={{ tab: 'knowledge' }}>
          {t.change}
        </Link>
      </div>
      {files.data?.files.length === 0 && <p className="muted">{t.noneOfAssistant}</p>}
      <ul className="file-list">
        {files.data?.files.map((file) => (
          <Row key={file.id} name={file.name} bytes={file.size} {...file.metadata} />
        ))}
      </ul>
    </section>
  )
}

interface RowProps {
  name: string
  bytes?: number
  status: keyof typeof badges
  error?: string | null | undefined
  children?: React.ReactNode
}

function Row({ name, bytes, status, error, children }: RowProps) {
  return (
    <li className="file-row">
      <FileText size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div className="truncate" title={name}>
          {name}
        </div>
        {bytes !== undefined && <div className="muted small">{formatBytes(bytes)}</div>}
        {error && <div className="field-error">{error}</div>}
      </div>
      <span className={`badge ${badges[status]}`}>{texts.knowledge.status[status]}</span>
      {children}
    </li>
  )
}
