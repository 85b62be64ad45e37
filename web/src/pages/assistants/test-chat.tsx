import { RotateCcw, X } from 'lucide-react'
import { Suspense, useRef, useState } from 'react'
import { type Assistant, wordsOf } from '../../lib/api.ts'
import { newTestThread, removeTestThread, sendMessage } from '../../lib/send-message.ts'
import { say } from '../../lib/toasts.ts'
import { useLeaving } from '../../lib/use-leaving.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { Composer } from '../chat/composer.tsx'
import { type ScrollHandle, ScrollToEnd } from '../chat/scroll-to-end.tsx'
import { Turn } from '../chat/turn.tsx'
import { useBeside } from '../chat/use-beside.ts'
import { useChat } from '../chat/use-chat.ts'
import { useTurnActions } from '../chat/use-turn-actions.ts'

const SourcePanel = lazyPart(async () => ({ default: (await import('../chat/sources/source-panel.tsx')).SourcePanel }))
const t = assistantMessages.testChat

interface TestChatProps {
  assistant: Assistant
  /** Whether settings are not saved yet. */
  isChanged: boolean
  onClose: () => void
}

/** A chat beside the settings of an assistant. Its thread is in no list, and deleted when the chat is over. */
export default function TestChat({ assistant, isChanged, onClose }: TestChatProps) {
  const { assistant_id: assistantId } = assistant
  const [threadId, setThreadId] = useState<string>()
  const current = useRef<string>(undefined)
  const leave = () => {
    if (current.current !== undefined) removeTestThread(current.current)
    current.current = undefined
  }
  useLeaving(leave)
  const begin = async (content: string, pictures: string[]) => {
    try {
      const id = (current.current ??= await newTestThread(t.name(assistant.name), assistantId))
      await sendMessage({ threadId: id, assistantId, content, pictures })
      setThreadId(id)
      return true
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
      return false
    }
  }
  return (
    <aside className="test-chat" aria-label={t.title}>
      <header className="test-chat-head">
        <h2 className="grow">{t.title}</h2>
        <IconButton
          label={t.restart}
          icon={<RotateCcw size={16} />}
          onClick={() => {
            leave()
            setThreadId(undefined)
          }}
        />
        <IconButton label={t.close} icon={<X size={18} />} onClick={onClose} />
      </header>
      {isChanged && <Notice tone="warn">{t.unsaved}</Notice>}
      {threadId === undefined ? (
        <>
          <p className="muted test-chat-hello">{t.text}</p>
          <Composer
            chat={`test-${assistantId}`}
            assistantId={assistantId}
            isBusy={false}
            isOneAtATime
            isAside
            onSend={begin}
            onStop={() => {}}
          />
        </>
      ) : (
        <Begun key={threadId} threadId={threadId} />
      )}
    </aside>
  )
}

function Begun({ threadId }: { threadId: string }) {
  const chat = useChat(threadId)
  const beside = useBeside(threadId)
  const { turns, assistantId, current } = chat
  const scroll = useRef<ScrollHandle>(null)
  const actions = useTurnActions({
    onEdit: () => {},
    onRetry: () => {},
    onVersion: chat.showVersion,
    onSource: beside.openSource,
  })
  return (
    <>
      <ScrollToEnd ref={scroll} said={chat.said}>
        <div className="chat-column">
          {turns.map((turn, index) => (
            <Turn
              key={turn.human?.data.id ?? `start-${index}`}
              turn={turn}
              followed={turn.run && chat.followedOf(turn.run.run_id)}
              canChange={false}
              actions={actions}
            />
          ))}
        </div>
      </ScrollToEnd>
      <Composer
        chat={threadId}
        assistantId={assistantId}
        isBusy={current !== undefined}
        isAside
        onSend={(content, pictures) => {
          scroll.current?.toEnd()
          return chat.send(content, pictures)
        }}
        onStop={chat.stop}
      />
      {beside.source && (
        <Suspense>
          <SourcePanel assistantId={assistantId} {...beside.source} onShow={beside.showSource} onClose={beside.close} />
        </Suspense>
      )}
    </>
  )
}
