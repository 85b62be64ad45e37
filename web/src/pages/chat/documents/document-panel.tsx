import './documents.css'
import { Download, FileText, History, Trash2 } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { type FormEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type Schemas, wordsOf } from '../../../lib/api.ts'
import { noteOf } from '../../../lib/document-answers.ts'
import {
  type ThreadDocument,
  endingOf,
  putVersion,
  removeDocument,
  titleOf,
  useDocumentText,
  useDocuments,
} from '../../../lib/documents.ts'
import { formatDateTime } from '../../../lib/format.ts'
import { say } from '../../../lib/toasts.ts'
import { documentMessages as t } from '../../../texts/documents.ts'
import { texts } from '../../../texts/index.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CopyIcon } from '../../../ui/code-block.tsx'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { SidePanel } from '../../../ui/side-panel.tsx'
import { Problem, Skeleton } from '../../../ui/states.tsx'
import { TabList } from '../../../ui/tab-list.tsx'
import type { OpenedDocument } from './context.ts'
import { Preview, previewOf } from './preview.tsx'

interface PanelProps {
  threadId: string
  opened: OpenedDocument
  canEdit: boolean
  /** Told how to keep what was written by hand, and to get the note for a question; undefined if that failed. */
  onNoting: (noting: (() => Promise<string | undefined>) | undefined) => void
  /** Resolves to whether the question was accepted. */
  onAsk: (text: string) => Promise<boolean>
  onClose: () => void
}

/** What was written by hand and not saved, while other pages are looked at. */
const drafts = new Map<string, string>()

/** Beside the chat: a text or code of it, which is read, changed by hand, or changed by asking. */
export default function DocumentPanel({ threadId, opened, ...props }: PanelProps) {
  const documents = useDocuments(threadId)
  const found = documents.data && foundIn(documents.data, opened)
  const { begin, documentId } = opened
  const isToBegin = documents.data !== undefined && found === undefined && begin !== undefined && props.canEdit
  const [problem, setProblem] = useState<unknown>()
  useEffect(() => {
    if (!isToBegin || begin === undefined) return
    const { messageId, language, content, name = titleOf(content, language) } = begin
    putVersion(threadId, documentId, { name, language, content, message_id: messageId, base: 0 }).catch(setProblem)
  }, [isToBegin, begin, threadId, documentId])
  if (found !== undefined)
    return (
      <Opened
        key={found.document.document_id}
        threadId={threadId}
        document={found.document}
        number={found.number}
        {...props}
      />
    )
  const error = problem ?? documents.error
  return (
    <SidePanel
      label={t.title}
      closeLabel={t.close}
      head={<h2 className="side-title grow">{t.title}</h2>}
      {...props}
      isWide
    >
      <div className="side-body">
        {error ? (
          <Problem error={error} onRetry={() => void documents.refetch()} />
        ) : documents.data && begin === undefined ? (
          <Notice>{t.gone}</Notice>
        ) : (
          <Skeleton lines={8} />
        )}
      </div>
    </SidePanel>
  )
}

/** The document itself, or the one of which this part of an answer is a version. */
function foundIn(documents: ThreadDocument[], { documentId, number, begin }: OpenedDocument) {
  const own = documents.find(({ document_id: id }) => id === documentId)
  if (own !== undefined) return { document: own, number }
  if (begin === undefined) return undefined
  for (const document of documents) {
    const version = document.versions.find(({ message_id: id, number: place }) => id === begin.messageId && place > 1)
    if (version !== undefined && document.language === begin.language) return { document, number: version.number }
  }
  return undefined
}

interface OpenedProps extends Omit<PanelProps, 'opened'> {
  document: ThreadDocument
  number: number | undefined
}

function Opened({ threadId, document, number: first, canEdit, onNoting, onAsk, onClose }: OpenedProps) {
  const { document_id: id, name, versions } = document
  const newest = versions.at(-1)?.number ?? 1
  /** Undefined: the newest, also when there is a newer one. */
  const [chosen, choose] = useState(first === newest ? undefined : first)
  const number = chosen ?? newest
  const version = versions.find((one) => one.number === number)
  const [isRemoving, setRemoving] = useState(false)
  const [view, setView] = useState('preview')
  const written = useDocumentText(threadId, id, number)
  const key = `${threadId}/${id}/${number}`
  const [draft, setDraft] = useState<{ key: string; text: string | undefined }>()
  const text = (draft?.key === key ? draft.text : drafts.get(key)) ?? written.data?.content
  const isChanged = text !== undefined && written.data !== undefined && text !== written.data.content
  const write = (next: string | undefined) => {
    if (next === undefined) drafts.delete(key)
    else drafts.set(key, next)
    setDraft({ key, text: next })
  }
  const save = async (content: string) => {
    try {
      const { number: made } = await putVersion(threadId, id, {
        name,
        language: document.language,
        content,
        base: newest,
      })
      write(undefined)
      choose(undefined)
      return made
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
      return undefined
    }
  }
  const note = useNewest(async () => {
    if (text === undefined || version === undefined) return ''
    const noted = { id, name, language: document.language }
    if (isChanged && canEdit) {
      const made = await save(text)
      return made === undefined ? undefined : noteOf({ ...noted, version: made }, text)
    }
    // What an answer has written last the model knows already.
    const isKnown = version.made_by === 'answer' && number === newest
    return noteOf({ ...noted, version: number }, isKnown ? undefined : text)
  })
  useEffect(() => {
    onNoting(note)
    return () => onNoting(undefined)
  }, [onNoting, note])
  const head = (
    <>
      <FileText size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <h2 className="side-title truncate" title={name}>
          {name}
        </h2>
        <div className="muted small truncate">
          {[number === newest ? t.version(number) : t.shown(number, newest), version && makerOf(version)]
            .filter(Boolean)
            .join(' · ')}
        </div>
      </div>
      <Menu
        trigger={<IconButton label={t.versions} icon={<History size={17} />} />}
        entries={versions.toReversed().map((one) => ({
          key: String(one.number),
          label: t.version(one.number),
          note: `${makerOf(one)} · ${formatDateTime(one.created_at)}`,
          isCurrent: one.number === number,
          onSelect: () => choose(one.number === newest ? undefined : one.number),
        }))}
      />
      <CopyIcon text={text ?? ''} />
      <IconButton label={t.download} icon={<Download size={17} />} onClick={() => download(document, text ?? '')} />
      {canEdit && <IconButton label={t.remove} icon={<Trash2 size={17} />} onClick={() => setRemoving(true)} />}
    </>
  )
  return (
    <SidePanel label={t.panel(name)} closeLabel={t.close} head={head} onClose={onClose} isWide>
      {written.isError ? (
        <div className="side-body">
          <Problem error={written.error} onRetry={() => void written.refetch()} />
        </div>
      ) : text === undefined ? (
        <div className="side-body">
          <Skeleton lines={8} />
        </div>
      ) : (
        <Views
          language={document.language}
          text={text}
          onText={canEdit ? write : undefined}
          view={view}
          onView={setView}
        />
      )}
      {canEdit && (
        <footer className="document-foot">
          {isChanged ? (
            <div className="document-change">
              <span className="muted small grow">{t.unsaved}</span>
              <Button size="small" onClick={() => write(undefined)}>
                {t.discard}
              </Button>
              <Button size="small" onClick={() => void save(text)}>
                {t.save}
              </Button>
            </div>
          ) : (
            number !== newest && (
              <div className="document-change">
                <span className="muted small grow">{t.older}</span>
                <Button size="small" disabled={text === undefined} onClick={() => void save(text ?? '')}>
                  {t.restore}
                </Button>
              </div>
            )
          )}
          <Ask onAsk={onAsk} />
        </footer>
      )}
      {isRemoving && (
        <ConfirmDialog
          title={t.removeTitle(name)}
          text={t.removeText}
          action={t.remove}
          onConfirm={() => removeDocument(threadId, id)}
          onDone={onClose}
          onClose={() => setRemoving(false)}
        />
      )}
    </SidePanel>
  )
}

/** The same function in every render, which does what the newest one does. */
function useNewest<T>(action: () => Promise<T>): () => Promise<T> {
  const newest = useRef(action)
  useLayoutEffect(() => {
    newest.current = action
  })
  return useCallback(() => newest.current(), [])
}

interface ViewsProps {
  language: string
  text: string
  onText: ((text: string) => void) | undefined
  view: string
  onView: (view: string) => void
}

/** As it is meant to be seen, if that can be shown, and as text. */
function Views({ language, text, onText, view, onView }: ViewsProps) {
  const hasPreview = previewOf(language) !== undefined
  const editor = (
    <textarea
      className="document-text"
      aria-label={t.edit}
      readOnly={onText === undefined}
      spellCheck={language === '' || language === 'markdown'}
      dir="auto"
      value={text}
      onChange={(event) => onText?.(event.target.value)}
    />
  )
  if (!hasPreview) return <div className="document-view">{editor}</div>
  return (
    <Tabs.Root className="document-views" value={view} onValueChange={onView}>
      <TabList
        label={t.views}
        tabs={[
          ['preview', t.preview],
          ['text', t.text],
        ]}
      />
      <Tabs.Content className="document-view" value="preview">
        <Preview language={language} content={text} />
      </Tabs.Content>
      <Tabs.Content className="document-view" value="text">
        {editor}
      </Tabs.Content>
    </Tabs.Root>
  )
}

/** A question about the document, without leaving it. */
function Ask({ onAsk }: { onAsk: (text: string) => Promise<boolean> }) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const ask = async (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '' || isBusy) return
    setBusy(true)
    if (await onAsk(text.trim())) setText('')
    setBusy(false)
  }
  return (
    <form className="document-ask" onSubmit={(event) => void ask(event)}>
      <input
        className="input"
        aria-label={t.ask}
        placeholder={t.askPlaceholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" look="primary" busy={isBusy} disabled={text.trim() === ''}>
        {t.send}
      </Button>
    </form>
  )
}

function makerOf({ made_by: kind, author }: Schemas['DocumentVersion']): string {
  if (kind === 'answer') return t.byAnswer
  return author === null ? t.byYou : t.byOther(author.name)
}

/** Names of files have no such characters on some systems. */
function download({ name, language }: ThreadDocument, text: string): void {
  const ending = `.${endingOf(language)}`
  const plain = name.replaceAll(/[\\/:*?"<>|\p{Cc}]+/gu, ' ').trim() || 'document'
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = window.document.createElement('a')
  link.href = url
  link.download = plain.toLowerCase().endsWith(ending) || /\.\w{1,5}$/.test(plain) ? plain : `${plain}${ending}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
