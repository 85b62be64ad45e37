import '../../styles/insights.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { MessageSquare, ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { ApiError, type Schemas, api, unwrap, useFiles } from '../../lib/api.ts'
import { formatDateTime } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { insightMessages as t } from '../../texts/insights.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Loading, Problem, Skeleton } from '../../ui/states.tsx'

const pathOf = (aid: string) => ({ params: { path: { aid } } })

/** How an assistant is used: questions without a good answer, chats of visitors, and what people say. */
export default function InsightsTab({ assistantId }: { assistantId: string }) {
  return (
    <div className="stack">
      <OpenQuestions assistantId={assistantId} />
      <VisitorChats assistantId={assistantId} />
      <Said assistantId={assistantId} />
    </div>
  )
}

const isOff = (error: unknown) => error instanceof ApiError && error.status === 403

function OpenQuestions({ assistantId }: { assistantId: string }) {
  const open = useQuery({
    queryKey: ['insights', assistantId, 'open'],
    retry: false,
    queryFn: () => unwrap(api.GET('/assistants/{aid}/insights/open-questions', pathOf(assistantId))),
  })
  const [chosen, setChosen] = useState<string>()
  // The list of chats says why there are none.
  if (isOff(open.error)) return undefined
  return (
    <section className="card stack-small">
      <h2>{t.open.title}</h2>
      <p className="muted small">{t.open.text}</p>
      <Loading query={open} lines={3} />
      {open.data?.length === 0 && <p className="muted">{t.open.none}</p>}
      <ul className="stack-small">
        {open.data?.map((group) => (
          <li key={group.question} className="insight">
            <div className="grow">
              <strong className="break" dir="auto">
                {group.question}
              </strong>
              <div className="muted small">{[...reasonsOf(group), formatDateTime(group.asked_at)].join(' · ')}</div>
            </div>
            <Button size="small" onClick={() => setChosen(group.question)}>
              {t.open.toTest}
              <span className="visually-hidden">: {group.question}</span>
            </Button>
          </li>
        ))}
      </ul>
      {chosen !== undefined && (
        <ToTest assistantId={assistantId} question={chosen} onClose={() => setChosen(undefined)} />
      )}
    </section>
  )
}

const reasonKinds = ['not_found', 'failed', 'disliked'] as const

const reasonsOf = (group: Schemas['OpenQuestion']): string[] =>
  reasonKinds.filter((kind) => group[kind] > 0).map((kind) => t.open.reasons[kind](group[kind]))

const questionMax = 500

/** Adds a question to those with which the search in the files is tried. */
function ToTest({ assistantId, question, onClose }: { assistantId: string; question: string; onClose: () => void }) {
  const client = useQueryClient()
  const files = useFiles(assistantId)
  const names = [...new Set(files.data?.files.map(({ name }) => name))]
  const [name, setName] = useState('')
  const file = name || names[0] || ''
  const form = useSubmit(async () => {
    const { questions } = await unwrap(api.GET('/assistants/{aid}/evaluation', pathOf(assistantId)))
    const before = questions.map(({ question: one, file_name, page }) => ({ question: one, file_name, page }))
    const body = { questions: [...before, { question: question.slice(0, questionMax), file_name: file }] }
    await unwrap(api.PUT('/assistants/{aid}/evaluation', { ...pathOf(assistantId), body }))
    await client.invalidateQueries({ queryKey: ['evaluation', assistantId] })
    say(t.open.added)
    onClose()
  })
  return (
    <FormDialog title={t.open.toTest} action={t.open.add} form={form} disabled={file === ''} onClose={onClose}>
      <p className="break" dir="auto">
        {question}
      </p>
      <p className="muted small">{names.length === 0 && !files.isPending ? t.open.noFiles : t.open.toTestText}</p>
      {names.length > 0 && (
        <SelectField label={t.open.file} value={file} onValue={setName}>
          {names.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </SelectField>
      )}
    </FormDialog>
  )
}

const chatsAtOnce = 20

function VisitorChats({ assistantId }: { assistantId: string }) {
  const [limit, setLimit] = useState(chatsAtOnce)
  const [chosen, setChosen] = useState<Schemas['VisitorChat']>()
  const chats = useQuery({
    queryKey: ['insights', assistantId, 'chats', limit],
    retry: false,
    placeholderData: (before) => before,
    queryFn: () =>
      unwrap(api.GET('/assistants/{aid}/insights/chats', { params: { path: { aid: assistantId }, query: { limit } } })),
  })
  return (
    <section className="card stack-small">
      <h2>{t.chats.title}</h2>
      {chats.isPending && <Skeleton lines={3} />}
      {isOff(chats.error) && <p className="muted">{t.chats.off}</p>}
      {chats.isError && !isOff(chats.error) && <Problem error={chats.error} onRetry={() => void chats.refetch()} />}
      {chats.data?.length === 0 && <p className="muted">{t.chats.none}</p>}
      <ul className="stack-small">
        {chats.data?.map((chat) => (
          <li key={chat.thread_id} className="insight">
            <div className="grow">
              <strong className="clamp break" dir="auto">
                {chat.question || t.chats.untitled}
              </strong>
              <div className="muted small row">
                <span>
                  {[
                    t.chats.answers(chat.runs),
                    chat.failed > 0 && t.chats.failed(chat.failed),
                    formatDateTime(chat.updated_at),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
                {chat.up > 0 && <Thumb isUp count={chat.up} />}
                {chat.down > 0 && <Thumb isUp={false} count={chat.down} />}
              </div>
            </div>
            <Button size="small" onClick={() => setChosen(chat)}>
              {t.chats.read}
              <span className="visually-hidden">: {chat.question}</span>
            </Button>
          </li>
        ))}
      </ul>
      {chats.data?.length === limit && (
        <div>
          <Button size="small" look="ghost" onClick={() => setLimit(limit + chatsAtOnce)}>
            {t.chats.more}
          </Button>
        </div>
      )}
      {chosen && <ChatDialog assistantId={assistantId} chat={chosen} onClose={() => setChosen(undefined)} />}
    </section>
  )
}

function Thumb({ isUp, count }: { isUp: boolean; count?: number }) {
  const Icon = isUp ? ThumbsUp : ThumbsDown
  return (
    <span className="nowrap">
      <Icon size={14} aria-label={isUp ? t.feedback.good : t.feedback.bad} /> {count}
    </span>
  )
}

interface ChatDialogProps {
  assistantId: string
  chat: Schemas['VisitorChat']
  onClose: () => void
}

function ChatDialog({ assistantId, chat, onClose }: ChatDialogProps) {
  const path = { aid: assistantId, thread_id: chat.thread_id }
  const messages = useQuery({
    queryKey: ['insights', assistantId, 'chat', chat.thread_id],
    queryFn: () => unwrap(api.GET('/assistants/{aid}/insights/chats/{thread_id}', { params: { path } })),
  })
  return (
    <Dialog wide title={formatDateTime(chat.created_at)} onClose={onClose}>
      <Loading query={messages} lines={5} />
      <ol className="stack insight-chat">
        {messages.data?.map(({ by_visitor: isVisitor, text }, place) => (
          <li key={place}>
            <div className="muted small">{isVisitor ? t.chats.visitor : t.chats.assistant}</div>
            <div className="insight-text" dir="auto">
              {text}
            </div>
          </li>
        ))}
      </ol>
    </Dialog>
  )
}

function Said({ assistantId }: { assistantId: string }) {
  const said = useQuery({
    queryKey: ['insights', assistantId, 'feedback'],
    queryFn: () =>
      unwrap(
        api.GET('/assistants/{aid}/insights/feedback', {
          params: { path: { aid: assistantId }, query: { limit: 50 } },
        }),
      ),
  })
  return (
    <section className="card stack-small">
      <h2>{t.feedback.title}</h2>
      <p className="muted small">{t.feedback.text}</p>
      <Loading query={said} lines={3} />
      {said.data?.length === 0 && <p className="muted">{t.feedback.none}</p>}
      <ul className="stack-small">
        {said.data?.map((one) => (
          <li key={one.feedback_id} className="insight">
            {one.score === null || one.key !== 'thumb' ? (
              <MessageSquare size={14} aria-hidden="true" />
            ) : (
              <Thumb isUp={one.score > 0} />
            )}
            <div className="grow stack-small">
              <div className="muted small">
                {[
                  one.key === 'thumb' ? undefined : one.key,
                  reasonWords(one.reason),
                  one.by_visitor && t.feedback.visitor,
                  formatDateTime(one.created_at),
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </div>
              {one.comment && (
                <div className="break" dir="auto">
                  {one.comment}
                </div>
              )}
              {one.question !== null && (
                <details>
                  <summary className="break">{one.question || t.chats.untitled}</summary>
                  <div className="insight-text" dir="auto">
                    {one.answer}
                  </div>
                </details>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function reasonWords(reason: string | null): string | undefined {
  if (reason === null) return undefined
  const known: Record<string, string> = t.reason.reasons
  return Object.hasOwn(known, reason) ? known[reason] : reason
}
