import { useQuery } from '@tanstack/react-query'
import { FileX, Upload as UploadIcon } from 'lucide-react'
import { Suspense, useRef } from 'react'
import { api, keys, queryClient, unwrap, useFiles, useSources } from '../../lib/api.ts'
import { formatNumber } from '../../lib/format.ts'
import { useMembership } from '../../lib/membership.ts'
import { filesPage, forgetUpload, upload, useUploads } from '../../lib/uploads.ts'
import { useFileDrop } from '../../lib/use-file-drop.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Loading, ProgressBar, Skeleton } from '../../ui/states.tsx'
import { Evaluation } from './evaluation.tsx'
import { FileRow } from './file-row.tsx'
import { PassageSearch } from './passage-search.tsx'

const t = texts.knowledge
const WebSources = lazyPart(async () => ({ default: (await import('./web-sources.tsx')).WebSources }))

export function KnowledgeTab({ assistantId }: { assistantId: string }) {
  const canEdit = useMembership().may('editor')
  const files = useFiles(assistantId)
  const sources = useSources(assistantId)
  const hasPages = sources.data?.sources.some(({ pages }) => pages > 0)
  const hasReady = files.data?.files.some(({ metadata }) => metadata.status === 'ready')
  const ready = files.data?.files.filter(({ metadata }) => metadata.status === 'ready') ?? []
  const names = [...new Set(ready.map(({ name }) => name))]
  return (
    <div className="stack">
      {canEdit && (
        <>
          <DropZone assistantId={assistantId} isEmpty={files.data?.files.length === 0} />
          <UploadList assistantId={assistantId} />
        </>
      )}
      {hasReady && <Reembedding assistantId={assistantId} />}
      <Loading query={files} lines={4} height={44} />
      {!canEdit && files.data?.files.length === 0 && <p className="muted">{t.none}</p>}
      {files.data && files.data.files.length > 0 && (
        <ul className="file-list">
          {files.data.files.map((file) => (
            <FileRow key={file.id} assistantId={assistantId} file={file} />
          ))}
        </ul>
      )}
      <Suspense fallback={<Skeleton lines={2} height={44} />}>
        <WebSources assistantId={assistantId} />
      </Suspense>
      {(hasReady || hasPages) && <PassageSearch assistantId={assistantId} />}
      {hasReady && canEdit && <Evaluation assistantId={assistantId} fileNames={names} />}
    </div>
  )
}

/** Where files are dropped or chosen; without files it says so, and offers one to try it with. */
function DropZone({ assistantId, isEmpty }: { assistantId: string; isEmpty: boolean }) {
  const isDragging = useFileDrop((files) => upload(assistantId, files, filesPage))
  const input = useRef<HTMLInputElement>(null)
  return (
    <div className="drop" data-dragging={isDragging}>
      {isEmpty ? (
        <Empty
          icon={<UploadIcon size={32} aria-hidden="true" />}
          title={t.none}
          example={{ text: t.example.text, onChoose: () => upload(assistantId, [exampleFile()], filesPage) }}
        >
          <Button look="primary" onClick={() => input.current?.click()}>
            {t.chooseFiles}
          </Button>
        </Empty>
      ) : (
        <>
          <UploadIcon size={24} aria-hidden="true" />
          <div>
            {t.drop}{' '}
            <button type="button" className="link-button" onClick={() => input.current?.click()}>
              {t.choose}
            </button>
          </div>
        </>
      )}
      <p className="muted small">{t.dropText}</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          if (event.target.files) upload(assistantId, event.target.files, filesPage)
          event.target.value = ''
        }}
      />
    </div>
  )
}

const exampleFile = () => new File([t.example.content], t.example.name, { type: 'text/markdown' })

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

/** How often the progress is read. */
const everyMs = 2000
const tones = { outdated: 'warn', running: 'plain', failed: 'danger' } as const

/**
 * Says that the service embeds with another model than the one that the files were embedded with, and embeds them
 * anew. Shows nothing while all vectors are of the current model, or without an embedding model.
 */
function Reembedding({ assistantId }: { assistantId: string }) {
  const path = { params: { path: { aid: assistantId } } }
  const queryKey = keys.reembedding(assistantId)
  const { data } = useQuery({
    queryKey,
    retry: false,
    queryFn: () => unwrap(api.GET('/assistants/{aid}/reembedding', path)),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? everyMs : false),
  })
  const canEdit = useMembership().may('editor')
  const start = useSubmit(async () => {
    queryClient.setQueryData(queryKey, await unwrap(api.POST('/assistants/{aid}/reembedding', path)))
  })
  if (data === undefined || data.status === 'current') return undefined
  const { status, chunks, chunks_done: done } = data
  return (
    <Notice tone={tones[status]}>
      <div className="stack-small">
        <div>
          {status === 'failed'
            ? assistantMessages.reembedding.failed(data.error ?? '')
            : assistantMessages.reembedding[status]}
        </div>
        <div className="small">
          {data.model === undefined
            ? assistantMessages.reembedding.model(modelName(data.configured_model))
            : assistantMessages.reembedding.models(modelName(data.model), modelName(data.configured_model))}
        </div>
        {status === 'running' ? (
          <ProgressBar
            value={chunks === 0 ? 1 : done / chunks}
            label={assistantMessages.reembedding.progress(done, chunks)}
          />
        ) : canEdit ? (
          <div>
            <Button size="small" busy={start.isBusy} onClick={() => void start.submit()}>
              {status === 'failed' ? assistantMessages.reembedding.continue : assistantMessages.reembedding.start}
            </Button>
          </div>
        ) : undefined}
        {start.problem && <div className="field-error">{start.problem}</div>}
      </div>
    </Notice>
  )
}

/** A model for embeddings as the service names it: `name (384 dimensions)`, `name (built in, 384 dimensions)`. */
function modelName(given: string): string {
  const [, name = given, builtIn, amount] = /^(.+) \((built in, )?(\d+) dimensions\)$/.exec(given) ?? []
  if (amount === undefined) return given
  const { builtIn: ours, sized } = assistantMessages.reembedding
  return (builtIn === undefined ? sized : ours)(name, formatNumber(Number(amount)))
}
