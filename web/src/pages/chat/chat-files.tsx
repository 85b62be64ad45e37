import { Link } from '@tanstack/react-router'
import { FileText } from 'lucide-react'
import { type Assistant, useFiles } from '../../lib/api.ts'
import { addChatFile, removeChatFile, useChatFiles } from '../../lib/chat-files.ts'
import { useDocuments } from '../../lib/documents.ts'
import { useMembership } from '../../lib/membership.ts'
import { documentMessages } from '../../texts/documents.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FileRow } from './file-row.tsx'
import { FilesOfFolder } from './folders/files-of-folder.tsx'
import { OwnFiles } from './own-files.tsx'

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
  const files = useChatFiles(threadId)
  return (
    <Dialog title={t.title} onClose={onClose} wide>
      <div className="stack">
        <OwnFiles
          id="chat-files-own"
          files={files}
          labels={{ title: t.own, text: t.ownText, none: t.none, add: t.add, remove: t.remove }}
          add={(file) => addChatFile(threadId, file)}
          remove={(fileId) => removeChatFile(threadId, fileId)}
        />
        {folderId && <FilesOfFolder folderId={folderId} />}
        {assistant && <AssistantFiles assistant={assistant} />}
        <Documents threadId={threadId} onOpen={onDocument} />
      </div>
    </Dialog>
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
