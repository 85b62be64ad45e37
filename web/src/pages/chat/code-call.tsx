import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Download, FileText } from 'lucide-react'
import { use, useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import type { ToolMessage } from '../../lib/conversation.ts'
import { documentIdOf, languageOfFile, longestDocument } from '../../lib/documents.ts'
import { fileOf, load } from '../../lib/message-pictures.ts'
import { say } from '../../lib/toasts.ts'
import { documentMessages } from '../../texts/documents.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { OpenDocumentContext } from './documents/context.ts'

const t = texts.chat

type Part = NonNullable<ToolMessage['data']['parts']>[number]
type Written = Extract<Part, { type: 'image' | 'file' }>

/** Code that an assistant has executed: what it printed, the pictures that it drew, and its files to be saved. */
export default function CodeCall({ code, result }: { code: string; result: ToolMessage | undefined }) {
  const { threadId } = useParams({ strict: false })
  const files = (result?.data.parts ?? []).filter((part) => part.type === 'image' || part.type === 'file')
  return (
    <>
      <div className="field-label">{t.code}</div>
      <pre className="code-block" role="region" tabIndex={0} aria-label={t.code} dir="ltr">
        {code}
      </pre>
      {result && (
        <>
          <div className="field-label">{t.codeOutput}</div>
          <pre className="code-block" role="region" tabIndex={0} aria-label={t.codeOutput}>
            {result.data.content}
          </pre>
        </>
      )}
      {threadId !== undefined && files.length > 0 && (
        <>
          <div className="field-label">{t.codeFiles}</div>
          <ul className="code-files">
            {files.map((file) => (
              <li key={file.attachment_id}>
                {file.type === 'image' && <Picture threadId={threadId} file={file} />}
                <SaveFile threadId={threadId} file={file} />
                <OpenFile threadId={threadId} file={file} messageId={result?.data.id ?? ''} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function Picture({ threadId, file }: { threadId: string; file: Written }) {
  const { data: url, isError } = useQuery({
    queryKey: ['pictures', file.attachment_id],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: () => load(threadId, file.attachment_id),
  })
  if (isError) return <p className="muted small">{t.pictures.gone}</p>
  return url === undefined ? (
    <Skeleton lines={3} />
  ) : (
    <img className="large-picture" src={url} alt={t.codePicture(nameOf(file))} />
  )
}

/** A text that the code has written, as a document beside the chat. */
function OpenFile({ threadId, file, messageId }: { threadId: string; file: Written; messageId: string }) {
  const open = use(OpenDocumentContext)
  const name = nameOf(file).slice(nameOf(file).lastIndexOf('/') + 1)
  const language = languageOfFile(name)
  if (open === undefined || language === undefined || file.size > longestDocument) return undefined
  const show = async () => {
    const content = await (await fileOf(threadId, file.attachment_id)).text()
    open({ documentId: documentIdOf(messageId, `${name}\n${content}`), begin: { messageId, language, content, name } })
  }
  return (
    <IconButton
      label={documentMessages.openNamed(name)}
      icon={<FileText size={15} />}
      onClick={() => void show().catch((error: unknown) => say(wordsOf(error, texts.offline), 'danger'))}
    />
  )
}

function SaveFile({ threadId, file }: { threadId: string; file: Written }) {
  const [hasFailed, setHasFailed] = useState(false)
  const name = nameOf(file)
  async function save() {
    try {
      const url = URL.createObjectURL(await fileOf(threadId, file.attachment_id))
      const link = document.createElement('a')
      link.href = url
      link.download = name.slice(name.lastIndexOf('/') + 1)
      link.click()
      setHasFailed(false)
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    } catch {
      setHasFailed(true)
    }
  }
  return (
    <>
      <Button size="small" aria-label={t.saveFile(name)} onClick={() => void save()}>
        <Download size={14} aria-hidden="true" /> {name}
      </Button>
      {hasFailed && (
        <span className="field-error" role="alert">
          {t.fileNotSaved(name)}
        </span>
      )}
    </>
  )
}

const nameOf = (file: Written): string => file.name ?? t.pictures.title
