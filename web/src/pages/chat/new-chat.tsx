import '../../styles/chat.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Bot, MessageCircleDashed } from 'lucide-react'
import { useState } from 'react'
import { type Assistant, useAssistants, useUsage, wordsOf } from '../../lib/api.ts'
import { moveChoices } from '../../lib/chat-model.ts'
import { moveDraft, newChatKey } from '../../lib/drafts.ts'
import { moveUploads } from '../../lib/uploads.ts'
import { nameOf, newTestThread, newThread, sendMessage } from '../../lib/send-message.ts'
import { keepTemporary } from '../../lib/temporary-chats.ts'
import { say } from '../../lib/toasts.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../../ui/states.tsx'
import { ChatModel } from './chat-model.tsx'
import { Composer } from './composer.tsx'
import { Hello, Starters } from './hello.tsx'

const t = texts.chat
const lastAssistantKey = 'assistant-platform.last-assistant'

/** A chat that does not exist before its first message. */
export function NewChat() {
  useTitle(texts.nav.newChat)
  const assistants = useAssistants()
  const { assistant: wanted } = useSearch({ from: '/console/chat' })
  const [chosen, setChosen] = useState(() => wanted ?? localStorage.getItem(lastAssistantKey) ?? '')
  const [isPassing, setPassing] = useState(false)
  const navigate = useNavigate()
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === chosen) ?? assistants.data?.[0]
  const send = async (text: string, pictures: string[] = []) => {
    if (!assistant) return false
    try {
      const name = nameOf(text) || texts.chat.pictures.title
      const threadId = await (isPassing ? newTestThread : newThread)(name, assistant.assistant_id)
      if (isPassing) keepTemporary(threadId)
      moveChoices(newChatKey, threadId)
      await sendMessage({ threadId, assistantId: assistant.assistant_id, content: text, pictures })
      moveDraft(newChatKey, threadId)
      moveUploads(newChatKey, threadId)
      await navigate({ to: '/console/chat/$threadId', params: { threadId } })
      return true
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
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
        <Empty icon={<Bot size={32} aria-hidden="true" />} title={t.noAssistants} text={t.noAssistantsText}>
          <Link to="/console/assistants" className="button button-primary">
            {texts.assistants.title}
          </Link>
        </Empty>
      </div>
    )
  return (
    <div className="chat" data-new="true">
      <header className="chat-head">
        <h1 className="visually-hidden">{texts.nav.newChat}</h1>
        <span className="grow" />
        <Button
          look="ghost"
          size="small"
          aria-pressed={isPassing}
          title={t.temporaryHelp}
          onClick={() => setPassing(!isPassing)}
        >
          <MessageCircleDashed size={15} aria-hidden="true" />
          {t.temporary}
        </Button>
      </header>
      <div className="chat-scroll">
        <Hello assistant={assistant} />
      </div>
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
      <div className="new-chat-foot">
        <div className="new-chat-notes">
          {isPassing && <Notice>{t.temporaryHelp}</Notice>}
          <QuotaWarning />
        </div>
        <Starters assistant={assistant} chat={newChatKey} onSend={(text) => void send(text)} />
      </div>
    </div>
  )
}

/** From nine tenths of the chats that the account may have. */
function QuotaWarning() {
  const usage = useUsage().data
  if (usage === undefined || usage.thread_counter < usage.thread_max * 0.9) return undefined
  return (
    <Notice tone="warn">
      <span>
        {t.quotaWarning(usage.thread_counter, usage.thread_max)}{' '}
        <Link to="/console/chat" search={{ choose: true }}>
          {t.chooseChats}
        </Link>{' '}
        · <Link to="/console/usage">{texts.usage.title}</Link>
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
