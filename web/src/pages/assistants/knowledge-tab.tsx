import { useInfiniteQuery } from '@tanstack/react-query'
import { FileText, FileX, Layers, RotateCcw, Trash2, Upload as UploadIcon } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { type KnowledgeFile, api, keys, queryClient, unwrap, useFiles, wordsOf } from '../../lib/api.ts'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { forgetUpload, upload, useUploads } from '../../lib/uploads.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { Problem, ProgressBar, Skeleton } from '../../ui/states.tsx'
import { PassageSearch } from './passage-search.tsx'

const t = texts.knowledge

export function KnowledgeTab({ assistantId }: { assistantId: string }) {
  const files = useFiles(assistantId)
  const hasReady = files.data?.files.some(({ metadata }) => metadata.status === 'ready')
  return (
    <div className="stack">
      <DropZone assistantId={assistantId} />
      <UploadList assistantId={assistantId} />
      {files.isPending && <Skeleton lines={4} height={44} />}
      {files.isError && <Problem error={files.error} onRetry={() => void files.refetch()} />}
      {files.data?.files.length === 0 && <p className="muted">{t.none}</p>}
      {files.data && files.data.files.length > 0 && (
        <ul className="file-list">
          {files.data.files.map((file) => (
            <FileRow key={file.id} assistantId={assistantId} file={file} />
          ))}
        </ul>
      )}
      {hasReady && <PassageSearch assistantId={assistantId} />}
    </div>
  )
}

function DropZone({ assistantId }: { assistantId: string }) {
  const [isDragging, setDragging] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const onDrag = (event: DragEvent, dragging: boolean) => {
    event.preventDefault()
    setDragging(dragging)
  }
  return (
    <div
      className="drop"
      data-dragging={isDragging}
      onDragOver={(event) => onDrag(event, true)}
      onDragLeave={(event) => onDrag(event, false)}
      onDrop={(event) => {
        onDrag(event, false)
        void upload(assistantId, event.dataTransfer.files)
      }}
    >
      <UploadIcon size={24} aria-hidden="true" />
      <div>
        {t.drop}{' '}
        <button type="button" className="link-button" onClick={() => input.current?.click()}>
          {t.choose}
        </button>
      </div>
      <p className="muted small">{t.dropText}</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          if (event.target.files) void upload(assistantId, event.target.files)
          event.target.value = ''
        }}
      />
    </div>
  )
}

/** Uploads under way. When a file is stored, the list of files shows it. */
function UploadList({ assistantId }: { assistantId: string }) {
  const uploads = useUploads(assistantId).filter(({ isStored }) => !isStored)
  if (uploads.length === 0) return undefined
  return (
    <ul className="file-list" aria-label={t.uploading}>
      {uploads.map((entry) => (
        <li key={entry.key} className="file-row">
          <UploadIcon size={18} aria-hidden="true" />
          <div className="grow stack-small">
            <div className="truncate">{entry.name}</div>
            {entry.phase === 'failed' ? (
              <span className="field-error">{entry.error}</span>
            ) : (
              <ProgressBar value={entry.progress} label={`${t.uploading} ${entry.name}`} />
            )}
          </div>
          {entry.phase === 'failed' && (
            <IconButton label={texts.close} icon={<FileX size={16} />} onClick={() => forgetUpload(entry.key)} />
          )}
        </li>
      ))}
    </ul>
  )
}

const badges = { queued: '', processing: 'badge-accent', ready: 'badge-ok', failed: 'badge-danger' }

function FileRow({ assistantId, file }: { assistantId: string; file: KnowledgeFile }) {
  const [open, setOpen] = useState<'chunks' | 'delete'>()
  const { status, chunks, embedded, characters, error, retryable } = file.metadata
  const path = { params: { path: { aid: assistantId, file_id: file.id } } }
  const refresh = () => queryClient.invalidateQueries({ queryKey: keys.files(assistantId) })
  const retry = async () => {
    try {
      await unwrap(api.POST('/assistants/{aid}/files/{file_id}/retry', path))
      await refresh()
    } catch (problem) {
      say(wordsOf(problem, texts.offline), 'danger')
    }
  }
  const remove = async () => {
    await unwrap(api.DELETE('/assistants/{aid}/files/{file_id}', path))
    say(t.deleted(file.name, chunks))
    await refresh()
  }
  const facts = [formatBytes(file.size)]
  if (status === 'ready') facts.push(t.chunks(chunks), `${formatNumber(characters)} characters`)
  return (
    <li className="file-row">
      <FileText size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div className="truncate" title={file.name}>
          {file.name}
        </div>
        <div className="muted small">{facts.join(' · ')}</div>
        {error && <div className="field-error">{error}</div>}
        {status === 'processing' && (
          <ProgressBar value={chunks === 0 ? 0.05 : Math.max(0.1, embedded / chunks)} label={file.name} />
        )}
      </div>
      <span className={`badge ${badges[status]}`}>
        {status === 'processing' && <span className="spinner" aria-hidden="true" />}
        {t.status[status]}
      </span>
      {status === 'ready' && (
        <IconButton
          label={`${t.showChunks}: ${file.name}`}
          icon={<Layers size={16} />}
          onClick={() => setOpen('chunks')}
        />
      )}
      {status === 'failed' && retryable && (
        <IconButton label={`${t.retry}: ${file.name}`} icon={<RotateCcw size={16} />} onClick={() => void retry()} />
      )}
      <IconButton
        label={`${texts.delete}: ${file.name}`}
        icon={<Trash2 size={16} />}
        onClick={() => setOpen('delete')}
      />
      {open === 'chunks' && <ChunksDialog assistantId={assistantId} file={file} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(file.name, chunks)}
          action={texts.delete}
          onConfirm={remove}
          onClose={() => setOpen(undefined)}
        />
      )}
    </li>
  )
}

const chunksPage = 20

function ChunksDialog({
  assistantId,
  file,
  onClose,
}: {
  assistantId: string
  file: KnowledgeFile
  onClose: () => void
}) {
  const chunks = useInfiniteQuery({
    queryKey: ['chunks', file.id],
    initialPageParam: 0,
    queryFn: ({ pageParam: offset }) =>
      unwrap(
        api.GET('/assistants/{aid}/files/{file_id}/chunks', {
          params: { path: { aid: assistantId, file_id: file.id }, query: { limit: chunksPage, offset } },
        }),
      ),
    getNextPageParam: (last, pages) => {
      const shown = pages.reduce((sum, page) => sum + page.chunks.length, 0)
      return shown < last.total && last.chunks.length > 0 ? shown : undefined
    },
  })
  const shown = chunks.data?.pages.flatMap((page) => page.chunks) ?? []
  return (
    <Dialog title={t.chunksTitle(file.name)} onClose={onClose} wide>
      {chunks.isPending && <Skeleton lines={5} />}
      {chunks.isError && <Problem error={chunks.error} />}
      {chunks.data && <p className="muted small">{t.showing(shown.length, chunks.data.pages[0]?.total ?? 0)}</p>}
      <ol className="stack-small">
        {shown.map((chunk) => (
          <li key={chunk.position} className="stack-tight">
            <div className="muted small">
              {[
                `#${chunk.position + 1}`,
                chunk.page && texts.chat.page(chunk.page),
                chunk.heading,
                texts.chat.tokens(chunk.tokens),
              ]
                .filter(Boolean)
                .join(' · ')}
            </div>
            <div className="passage small">{chunk.text}</div>
          </li>
        ))}
      </ol>
      {chunks.hasNextPage && (
        <Button busy={chunks.isFetchingNextPage} onClick={() => void chunks.fetchNextPage()}>
          {t.showMore}
        </Button>
      )}
    </Dialog>
  )
}
