import '../../styles/chat.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Bot, MessageCircleDashed } from 'lucide-react'
import { Suspense, useState } from 'react'
import {
  type Assistant,
  keys,
  queryClient,
  useAssistants,
  useConsoleSettings,
  useUsage,
  wordsOf,
} from '../../lib/api.ts'
import { chosenFor, moveChoices } from '../../lib/chat-model.ts'
import { moveDraft, newChatKey } from '../../lib/drafts.ts'
import { useMembership } from '../../lib/membership.ts'
import type { Addressed } from '../../lib/mentions.ts'
import { nameOf, newTestThread, newThread, sendMessage } from '../../lib/send-message.ts'
import { keepTemporary } from '../../lib/temporary-chats.ts'
import { say } from '../../lib/toasts.ts'
import { moveUploads } from '../../lib/uploads.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { useModels } from '../../ui/model-picker.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../../ui/states.tsx'
import { ChatModel } from './chat-model.tsx'
import { Composer } from './composer.tsx'
import { Hello, Starters } from './hello.tsx'
import { NoComposer } from './no-composer.tsx'

const InFolder = lazyPart(() => import('./folders/in-folder.tsx'))
const FirstModel = lazyPart(async () => ({ default: (await import('./first-model.tsx')).FirstModel }))
const t = texts.chat
const lastAssistantKey = 'assistant-platform.last-assistant'

/** A chat that does not exist before its first message. */
export function NewChat() {
  useTitle(texts.nav.newChat)
  const assistants = useAssistants()
  const { may, why } = useMembership()
  const canChat = may('member')
  const { assistant: wanted, folder } = useSearch({ from: '/console/chat' })
  const [chosen, setChosen] = useState(() => wanted ?? localStorage.getItem(lastAssistantKey) ?? '')
  const [isTemporary, setTemporary] = useState(false)
  const navigate = useNavigate()
  const models = useModels().data
  const isModelMissing = models !== undefined && (models.is_demo || models.models.length === 0)
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === chosen) ?? assistants.data?.[0]
  const send = async (text: string, pictures: string[] = [], addressed: Addressed = {}) => {
    if (!assistant) return false
    try {
      const name = nameOf(text) || texts.chat.pictures.title
      const answering = addressed.assistantId ?? assistant.assistant_id
      const threadId = await (isTemporary ? newTestThread(name, answering) : newThread(name, answering, [], folder))
      if (isTemporary) keepTemporary(threadId)
      moveChoices(newChatKey, threadId)
      const message = { threadId, assistantId: assistant.assistant_id, content: text, pictures, ...addressed }
      if (chosenFor('beside', threadId))
        await (await import('../../lib/beside.ts')).sendBeside({ ...message, end: null })
      else await sendMessage(message)
      moveDraft(newChatKey, threadId)
      moveUploads(newChatKey, threadId)
      await navigate({ to: '/console/chat/$threadId', params: { threadId } })
      return true
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
      // Beside the refusal of one chat too many stands what can be done about it.
      void queryClient.invalidateQueries({ queryKey: keys.usage })
      return false
    }
  }
  const choose = (id: string) => {
    setChosen(id)
    localStorage.setItem(lastAssistantKey, id)
  }
  if (assistants.isPending)
    return (
      <div className="page">
        <Skeleton lines={5} />
      </div>
    )
  if (assistants.isError)
    return (
      <div className="page">
        <Problem error={assistants.error} onRetry={() => void assistants.refetch()} />
      </div>
    )
  if (!assistant)
    return (
      <div className="page">
        <Empty
          icon={<Bot size={32} aria-hidden="true" />}
          title={t.noAssistants}
          text={may('editor') ? t.noAssistantsText : (why('editor') ?? '')}
        >
          {may('editor') && (
            <Link to="/console/assistants" className="button button-primary">
              {texts.assistants.title}
            </Link>
          )}
        </Empty>
      </div>
    )
  return (
    <div className="chat" data-new="true">
      <header className="chat-head">
        <h1 className="visually-hidden">{texts.nav.newChat}</h1>
        <span className="grow" />
        {canChat && (
          <Button
            look="ghost"
            size="small"
            aria-pressed={isTemporary}
            title={t.temporaryHelp}
            onClick={() => setTemporary(!isTemporary)}
          >
            <MessageCircleDashed size={15} aria-hidden="true" />
            {t.temporary}
          </Button>
        )}
      </header>
      <div className="chat-scroll">
        <Hello assistant={assistant} />
      </div>
      {canChat ? (
        <Composer
          chat={newChatKey}
          assistantId={assistant.assistant_id}
          isBusy={false}
          isOneAtATime
          onSend={send}
          onStop={() => {}}
        >
          <AssistantSelect assistants={assistants.data} value={assistant.assistant_id} onChoose={choose} />
          <ChatModel chat={newChatKey} />
        </Composer>
      ) : (
        <NoComposer />
      )}
      <div className="new-chat-foot">
        <div className="new-chat-notes">
          {isTemporary && <Notice>{t.temporaryHelp}</Notice>}
          {folder !== undefined && !isTemporary && (
            <Suspense>
              <InFolder folderId={folder} />
            </Suspense>
          )}
          {canChat && <QuotaWarning />}
        </div>
        {isModelMissing && (
          <Suspense>
            <FirstModel />
          </Suspense>
        )}
        {canChat && <Starters assistant={assistant} chat={newChatKey} onSend={(text) => void send(text)} />}
      </div>
    </div>
  )
}

/** From nine tenths of the chats that the account may have. */
function QuotaWarning() {
  const usage = useUsage().data
  const sells = useConsoleSettings()?.billing
  if (usage === undefined || usage.thread_counter < usage.thread_max * 0.9) return undefined
  return (
    <Notice tone="warn">
      <span>
        {t.quotaWarning(usage.thread_counter, usage.thread_max)}{' '}
        <Link to="/console/chat" search={{ choose: true }}>
          {t.chooseChats}
        </Link>{' '}
        · <Link to={sells ? '/console/plans' : '/console/usage'}>{sells ? texts.usage.plans : texts.usage.title}</Link>
      </span>
    </Notice>
  )
}

function AssistantSelect(props: { assistants: Assistant[]; value: string; onChoose: (id: string) => void }) {
  return (
    <select
      className="composer-select"
      aria-label={t.assistant}
      value={props.value}
      onChange={(event) => props.onChoose(event.target.value)}
    >
      {props.assistants.map(({ assistant_id: id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}
