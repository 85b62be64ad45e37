import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useState } from 'react'
import type { ToolMessage } from '../../lib/conversation.ts'
import { fileOf, load } from '../../lib/message-pictures.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'

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
