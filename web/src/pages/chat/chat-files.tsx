import { Link } from '@tanstack/react-router'
import { FileText, Trash2, Upload as UploadIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import { type Assistant, useFiles, wordsOf } from '../../lib/api.ts'
import { addChatFile, removeChatFile, useChatFiles } from '../../lib/chat-files.ts'
import { useDocuments } from '../../lib/documents.ts'
import { useMembership } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { documentMessages } from '../../texts/documents.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'
import { FileRow } from './file-row.tsx'
import { FilesOfFolder } from './folders/files-of-folder.tsx'

const t = texts.chatFiles
const d = documentMessages

interface ChatFilesProps {
  threadId: string
  folderId: string | null | undefined
  assistant: Assistant | undefined
  onDocument: (documentId: string) => void
  onClose: () => void
}

/** The files that a chat is answered from: its own, and those of its assistant. */
export default function ChatFiles({ threadId, folderId, assistant, onDocument, onClose }: ChatFilesProps) {
  return (
    <Dialog title={t.title} onClose={onClose} wide>
      <div className="stack">
        <OwnFiles threadId={threadId} />
        {folderId && <FilesOfFolder folderId={folderId} />}
        {assistant && <AssistantFiles assistant={assistant} />}
        <Documents threadId={threadId} onOpen={onDocument} />
      </div>
    </Dialog>
  )
}

function OwnFiles({ threadId }: { threadId: string }) {
  const files = useChatFiles(threadId)
  const input = useRef<HTMLInputElement>(null)
  // The service keeps them as files of the project.
  const why = useMembership().why('editor')
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
        {why === undefined && (
          <Button size="small" busy={sending.length > 0} onClick={() => input.current?.click()}>
            <UploadIcon size={14} aria-hidden="true" />
            {t.add}
          </Button>
        )}
      </div>
      <p className="muted small">{why ?? t.ownText}</p>
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
          <FileRow key={id} name={name} bytes={bytes} status={status} error={error}>
            {why === undefined && (
              <IconButton
                label={t.remove(name)}
                icon={<Trash2 size={16} />}
                onClick={() => void attempt(() => removeChatFile(threadId, id))}
              />
            )}
          </FileRow>
        ))}
        {sending.map((name, place) => (
          <FileRow key={`${place} ${name}`} name={name} status="queued" />
        ))}
      </ul>
    </section>
  )
}

/** Texts and code that were opened beside the chat. */
function Documents({ threadId, onOpen }: { threadId: string; onOpen: (documentId: string) => void }) {
  const { data } = useDocuments(threadId)
  return (
    <section className="stack-small" aria-labelledby="chat-files-documents">
      <h3 id="chat-files-documents">{d.title}</h3>
      <p className="muted small">{data?.length === 0 ? d.none : d.help}</p>
      <ul className="file-list">
        {data?.map(({ document_id: id, name, versions }) => (
          <li key={id} className="file-row">
            <FileText size={18} aria-hidden="true" className="muted" />
            <div className="grow">
              <button
                type="button"
                className="link-button truncate"
                aria-label={d.openNamed(name)}
                onClick={() => onOpen(id)}
              >
                {name}
              </button>
              <div className="muted small">{d.versionCount(versions.length)}</div>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function AssistantFiles({ assistant: { assistant_id: assistantId, name } }: { assistant: Assistant }) {
  const files = useFiles(assistantId)
  const canEdit = useMembership().may('editor')
  return (
    <section className="stack-small" aria-labelledby="chat-files-assistant">
      <div className="spread">
        <h3 id="chat-files-assistant">{t.ofAssistant(name)}</h3>
        {canEdit && (
          <Link to="/console/assistants/$assistantId" params={{ assistantId }} search={{ tab: 'knowledge' }}>
            {t.change}
          </Link>
        )}
      </div>
      {files.data?.files.length === 0 && <p className="muted">{t.noneOfAssistant}</p>}
      <ul className="file-list">
        {files.data?.files.map((file) => (
          <FileRow key={file.id} name={file.name} bytes={file.size} {...file.metadata} />
        ))}
      </ul>
    </section>
  )
}
