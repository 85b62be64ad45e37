import { ArrowUp, ListPlus, Paperclip, Square, Upload as UploadIcon } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, Suspense, useEffect, useRef, useState } from 'react'
import { useConsoleSettings } from '../../lib/api.ts'
import { takeComposed } from '../../lib/composed.ts'
import { composes } from '../../lib/composes.ts'
import { keepDraft, readDraft } from '../../lib/drafts.ts'
import { useMembership } from '../../lib/membership.ts'
import { type Addressed, type Mention, addressedIn, mentionAt } from '../../lib/mentions.ts'
import { addPictures, isPicture, putPictures, usePictures } from '../../lib/pictures.ts'
import { variablesOf } from '../../lib/prompt-variables.ts'
import { say } from '../../lib/toasts.ts'
import { upload, useUploads } from '../../lib/uploads.ts'
import { useFileDrop } from '../../lib/use-file-drop.ts'
import { useFocusAtStart } from '../../lib/use-focus-at-start.ts'
import { usePrompts } from '../../lib/use-prompts.ts'
import { useSame } from '../../lib/use-same.ts'
import { pastedCells } from '../../lib/written-tables.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Attachments } from './attachments.tsx'
import { PromptList } from './prompt-list.tsx'

const MentionList = lazyPart(() => import('./mentions/mention-list.tsx'))
const PromptsDialog = lazyPart(() => import('../prompts-dialog.tsx'))
const VariablesDialog = lazyPart(() => import('./variables-dialog.tsx'))
const Dictation = lazyPart(() => import('./dictation.tsx'))
const AddedPictures = lazyPart(() => import('./added-pictures.tsx'))
const t = texts.chat

interface ComposerProps {
  /** The chat whose draft this is. */
  chat: string
  assistantId: string | undefined
  isBusy: boolean
  /** Resolves to whether the message was accepted; otherwise its text and pictures are kept. */
  onSend: (text: string, pictures: string[], addressed: Addressed) => Promise<boolean>
  onStop: () => void
  /** Opens the last message of the person, to change it. */
  onEditLast?: (() => void) | undefined
  /** Whether a message is kept back while another one is being sent, instead of being sent after it. */
  isOneAtATime?: boolean
  /** Beside something else, which keeps the focus and the files that are dropped. */
  isAside?: boolean
  children?: React.ReactNode
}

/**
 * The field for messages. Pictures that are pasted, or dropped anywhere on the page, go with the next message; other
 * files are added to the assistant's knowledge.
 */
export function Composer({
  chat,
  assistantId,
  isBusy,
  onSend,
  onStop,
  onEditLast,
  isOneAtATime = false,
  isAside = false,
  children,
}: ComposerProps) {
  const [text, setText] = useState(() => readDraft(chat))
  const field = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(0)
  /** What was chosen from the list; what no longer stands in the text does not count. */
  const [mentions, setMentions] = useState<Mention[]>([])
  const mentionKeys = useRef<(event: KeyboardEvent) => boolean>(undefined)
  const setMentionKeys = useSame((handle: typeof mentionKeys.current) => {
    mentionKeys.current = handle
  })
  const mention = isAside ? undefined : mentionAt(text, caret)
  useFocusAtStart(field, !isAside)
  const [sending, setSending] = useState(0)
  /** Messages are sent in the order in which they were written. */
  const lastSent = useRef(Promise.resolve())
  const fileInput = useRef<HTMLInputElement>(null)
  const uploads = useUploads(assistantId, chat)
  const isHeld = isOneAtATime && sending > 0
  const unread = uploads.filter(({ phase }) => phase === 'uploading' || phase === 'processing')
  /** The files for which the message in the field waits. */
  const [awaited, setAwaited] = useState<string[]>()
  const pictures = usePictures(chat)
  const { may, why } = useMembership()
  /** Files become knowledge of the assistant; pictures go with the message. */
  const canAddFiles = assistantId !== undefined && may('editor')
  const add = (list: FileList | null) => {
    const files = [...(list ?? [])]
    const others = files.filter((file) => !isPicture(file))
    void addPictures(chat, files.filter(isPicture))
    if (others.length === 0 || assistantId === undefined) return
    const reason = why('editor')
    if (reason === undefined) upload(assistantId, others, chat)
    else say(reason, 'danger')
  }
  const onPaste = (event: ClipboardEvent) => {
    const { clipboardData } = event
    const cells = pastedCells(clipboardData)
    if (cells === undefined && clipboardData.files.length === 0) return
    event.preventDefault()
    // The browser's own insertion, which can be undone.
    if (cells !== undefined) document.execCommand('insertText', false, cells)
    else add(clipboardData.files)
  }
  const isDragging = useFileDrop(add, !isAside)
  const write = (next: string) => {
    if (next.trim() === '') setAwaited(undefined)
    setText(next)
    keepDraft(chat, next)
  }
  const compose = useSame((quote: string) => {
    write(quote + text)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(quote.length, quote.length)
    })
  })
  useEffect(() => takeComposed(chat, compose), [chat, compose])
  const canDictate = useConsoleSettings()?.can_listen === true && 'mediaDevices' in navigator
  const isEmpty = text.trim() === '' && pictures.length === 0
  const send = () => {
    const message = text.trim()
    if (isEmpty || isHeld) return
    // Sent once more, it goes out at once.
    if (unread.length > 0 && awaited === undefined) return setAwaited(unread.map(({ key }) => key))
    setAwaited(undefined)
    write('')
    putPictures(chat, [])
    setSending((count) => count + 1)
    lastSent.current = lastSent.current.then(async () => {
      // What was written meanwhile stays behind the message that comes back.
      const urls = pictures.map(({ url }) => url)
      if (!(await onSend(message, urls, addressedIn(message, mentions, assistantId)))) {
        write([message, readDraft(chat)].filter(Boolean).join('\n\n'))
        putPictures(chat, pictures)
      }
      setSending((count) => count - 1)
    })
  }
  const isRead = awaited !== undefined && unread.length === 0 && !isHeld
  const sendRead = useSame(() => {
    // Without a file that could not be read, the person may want to ask something else.
    if (uploads.some(({ key, phase }) => phase === 'failed' && awaited?.includes(key))) setAwaited(undefined)
    else send()
  })
  useEffect(() => {
    if (isRead) sendRead()
  }, [isRead, sendRead])
  const [isManaging, setManaging] = useState(false)
  const [asked, setAsked] = useState<{ name: string; text: string }>()
  const insert = (prompt: { name: string; text: string }) =>
    variablesOf(prompt.text).length > 0 ? setAsked(prompt) : write(prompt.text)
  const prompts = usePrompts({ text, onInsert: insert, onManage: () => setManaging(true) })
  const mentioned = (chosen: Mention) => {
    if (mention === undefined) return
    setMentions([...mentions, chosen])
    const before = `${text.slice(0, mention.start)}${chosen.sign}${chosen.name} `
    write(before + text.slice(caret).trimStart())
    setCaret(before.length)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(before.length, before.length)
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (prompts.onKeyDown(event) || mentionKeys.current?.(event)) return
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey
    if (isPlain && !composes(event.nativeEvent)) {
      if (event.key === 'Escape' && isBusy) {
        event.preventDefault()
        return onStop()
      }
      if (event.key === 'ArrowUp' && text === '' && onEditLast !== undefined) {
        event.preventDefault()
        return onEditLast()
      }
    }
    if (event.key !== 'Enter' || event.shiftKey || composes(event.nativeEvent) || isTouch()) return
    event.preventDefault()
    send()
  }
  return (
    <div className="composer-wrap">
      {isDragging && assistantId !== undefined && (
        <div className="drop-veil" aria-hidden="true">
          <div>
            <UploadIcon size={28} />
            {t.dropHere}
          </div>
        </div>
      )}
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        {pictures.length > 0 && (
          <Suspense>
            <AddedPictures chat={chat} pictures={pictures} />
          </Suspense>
        )}
        {uploads.length > 0 && <Attachments uploads={uploads} />}
        {awaited && (
          <p className="composer-note small muted" role="status">
            {t.sendsWhenRead(awaited.length)}{' '}
            <button type="button" className="link-button" onClick={send}>
              {t.sendNow}
            </button>
          </p>
        )}
        <PromptList {...prompts} />
        {mention && (
          <Suspense>
            <MentionList
              key={`${mention.sign}${mention.start}`}
              sign={mention.sign}
              wanted={mention.wanted}
              assistantId={addressedIn(text, mentions, assistantId).assistantId ?? assistantId}
              field={field}
              onKeys={setMentionKeys}
              onChoose={mentioned}
            />
          </Suspense>
        )}
        <textarea
          {...prompts.field}
          ref={field}
          aria-label={t.message}
          title={t.keysHelp}
          placeholder={isBusy ? t.placeholderBusy : t.placeholder}
          rows={1}
          dir="auto"
          value={text}
          onChange={(event) => {
            write(event.target.value)
            prompts.restart()
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionEnd)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className="composer-tools">
          <input
            ref={fileInput}
            type="file"
            multiple
            {...(!canAddFiles && { accept: 'image/*' })}
            hidden
            onChange={(event) => {
              add(event.target.files)
              event.target.value = ''
            }}
          />
          <IconButton
            label={canAddFiles || assistantId === undefined ? t.attach : t.attachPictures}
            icon={<Paperclip size={18} />}
            disabled={assistantId === undefined}
            onClick={() => fileInput.current?.click()}
          />
          {canDictate && (
            <Suspense>
              <Dictation onText={(said) => write([text.trimEnd(), said].filter(Boolean).join(' '))} />
            </Suspense>
          )}
          <div className="grow">{children}</div>
          {isBusy && (
            <Button size="small" onClick={onStop}>
              <Square size={13} fill="currentColor" aria-hidden="true" />
              {t.stop}
            </Button>
          )}
          <Button
            type="submit"
            look="primary"
            className="send"
            aria-label={isBusy ? t.queue : t.send}
            title={isBusy ? t.queue : t.send}
            disabled={isEmpty || isHeld}
          >
            {isBusy ? <ListPlus size={18} aria-hidden="true" /> : <ArrowUp size={18} aria-hidden="true" />}
          </Button>
        </div>
      </form>
      {asked && (
        <Suspense>
          <VariablesDialog
            name={asked.name}
            prompt={asked.text}
            onFill={(whole) => {
              write(whole)
              setAsked(undefined)
              requestAnimationFrame(() => field.current?.focus())
            }}
            onClose={() => setAsked(undefined)}
          />
        </Suspense>
      )}
      {isManaging && (
        <Suspense>
          <PromptsDialog
            onClose={() => {
              setManaging(false)
              prompts.restart()
            }}
          />
        </Suspense>
      )}
    </div>
  )
}

/** On a phone Enter makes a line, as in its other programs; a button sends. */
const isTouch = () => window.matchMedia('(hover: none) and (pointer: coarse)').matches
