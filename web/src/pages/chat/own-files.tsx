import type { UseQueryResult } from '@tanstack/react-query'
import { Trash2, Upload as UploadIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import type { ChatFile } from '../../lib/chat-files.ts'
import { useMembership } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Loading } from '../../ui/states.tsx'
import { FileRow } from './file-row.tsx'

interface OwnFilesProps {
  /** Of the heading. */
  id: string
  files: UseQueryResult<ChatFile[]>
  labels: { title: string; text: string; none: string; add: string; remove: (name: string) => string }
  add: (file: File) => Promise<void>
  remove: (fileId: string) => Promise<void>
}

/** The files of a chat or of a folder, which are added and removed here. */
export function OwnFiles({ id, files, labels: t, add, remove }: OwnFilesProps) {
  const input = useRef<HTMLInputElement>(null)
  // The service keeps them as files of the project.
  const why = useMembership().why('editor')
  const [sending, setSending] = useState<string[]>([])
  const attempt = async (action: () => Promise<void>) =>
    action().catch((error: unknown) => say(wordsOf(error, texts.offline), 'danger'))
  const addAll = async (list: File[]) => {
    setSending(list.map(({ name }) => name))
    // One after the other: the first makes the place for all.
    for (const file of list) {
      await attempt(() => add(file))
      setSending(([, ...rest]) => rest)
    }
  }
  return (
    <section className="stack-small" aria-labelledby={id}>
      <div className="spread">
        <h3 id={id}>{t.title}</h3>
        {why === undefined && (
          <Button size="small" busy={sending.length > 0} onClick={() => input.current?.click()}>
            <UploadIcon size={14} aria-hidden="true" />
            {t.add}
          </Button>
        )}
      </div>
      <p className="muted small">{why ?? t.text}</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          void addAll([...(target.files ?? [])])
          target.value = ''
        }}
      />
      <Loading query={files} lines={2} height={44} />
      {files.data?.length === 0 && sending.length === 0 && <p className="muted">{t.none}</p>}
      <ul className="file-list">
        {files.data?.map(({ id: fileId, name, bytes, status, error }) => (
          <FileRow key={fileId} name={name} bytes={bytes} status={status} error={error}>
            {why === undefined && (
              <IconButton
                label={t.remove(name)}
                icon={<Trash2 size={16} />}
                onClick={() => void attempt(() => remove(fileId))}
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
