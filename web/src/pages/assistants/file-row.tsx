import { FileText, Layers, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type KnowledgeFile, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { useMembership } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { ProgressBar } from '../../ui/states.tsx'
import { ChunksDialog } from './chunks-dialog.tsx'

const t = texts.knowledge
const badges = { queued: '', processing: 'badge-accent', ready: 'badge-ok', failed: 'badge-danger' }

/** A file of an assistant: its state, its passages, retry and deletion. */
export function FileRow({ assistantId, file }: { assistantId: string; file: KnowledgeFile }) {
  const canEdit = useMembership().may('editor')
  const [open, setOpen] = useState<'chunks' | 'delete'>()
  const { status, chunks, embedded, characters, error, retryable, scan } = file.metadata
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
    await refresh()
  }
  const facts = [formatBytes(file.size)]
  if (status === 'ready') facts.push(t.chunks(chunks), t.characters(formatNumber(characters)))
  if (status === 'ready' && scan) facts.push(t.scanned(scan.pages, scan.confidence))
  return (
    <li className="file-row">
      <FileText size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div className="truncate" title={file.name}>
          {file.name}
        </div>
        <div className="muted small">{facts.join(' · ')}</div>
        {scan && scan.unreadable_pages.length > 0 && (
          <div className="muted small">
            {t.unreadable(unreadable(scan.unreadable_pages), scan.unreadable_pages.length)}
          </div>
        )}
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
      {canEdit && status === 'failed' && retryable && (
        <IconButton label={`${t.retry}: ${file.name}`} icon={<RotateCcw size={16} />} onClick={() => void retry()} />
      )}
      {canEdit && (
        <IconButton
          label={`${texts.delete}: ${file.name}`}
          icon={<Trash2 size={16} />}
          onClick={() => setOpen('delete')}
        />
      )}
      {open === 'chunks' && <ChunksDialog assistantId={assistantId} file={file} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(file.name, chunks)}
          action={texts.delete}
          onConfirm={remove}
          onClose={() => setOpen(undefined)}
          onDone={() => say(t.deleted(file.name, chunks))}
        />
      )}
    </li>
  )
}

const mostPages = 20
const unreadable = (pages: number[]) => `${pages.slice(0, mostPages).join(', ')}${pages.length > mostPages ? ' …' : ''}`
