import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Printer } from 'lucide-react'
import '../../styles/chat.css'
import '../../styles/print.css'
import '../../styles/transcript.css'
import { type Message, api, keys, unwrap } from '../../lib/api.ts'
import { citationsIn } from '../../lib/citations.ts'
import { type AIMessage, textOfAnswer } from '../../lib/conversation.ts'
import { type Passage, parsePassages } from '../../lib/passages.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'
import { Transcript, type TranscriptMessage } from './transcript.tsx'

const t = texts.chat
/** Each has up to 8 MB of messages. */
const maxPages = 8

/** The whole chat on a page of its own, which the browser prints or saves as PDF. */
export function PrintChat() {
  const { threadId } = useParams({ from: '/console/print/$threadId' })
  const chat = useQuery({
    queryKey: [...keys.state(threadId), 'print'],
    refetchOnWindowFocus: false,
    queryFn: () => wholeChat(threadId),
  })
  useTitle(chat.data?.name || t.untitled)
  return (
    <main className="transcript-page">
      <header>
        <h1>{chat.data ? chat.data.name || t.untitled : texts.loading}</h1>
        {chat.data && (
          <div className="screen-only">
            <Button look="primary" onClick={() => void printWhenDrawn()}>
              <Printer size={16} aria-hidden="true" />
              {t.printNow}
            </Button>
          </div>
        )}
      </header>
      <Loading query={chat} lines={6} />
      {chat.data && chat.data.omitted > 0 && <Notice>{t.older(chat.data.omitted)}</Notice>}
      {chat.data && <Transcript messages={shownIn(chat.data.messages)} />}
    </main>
  )
}

/** Prints when the formulas and diagrams are there, or after ten seconds. */
async function printWhenDrawn(): Promise<void> {
  const until = Date.now() + 10_000
  while (document.querySelector('[data-pending]') !== null && Date.now() < until) await pause(100)
  await document.fonts.ready
  window.print()
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function wholeChat(tid: string): Promise<{ name: string; messages: Message[]; omitted: number }> {
  const { name } = await unwrap(api.GET('/threads/{tid}', { params: { path: { tid } } }))
  let messages: Message[] = []
  let omitted = 0
  for (let page = 0; page < maxPages; page++) {
    const before = messages[0]?.data.id
    const state = await unwrap(
      api.GET('/threads/{tid}/state', {
        params: { path: { tid }, query: { ...(before !== undefined && { before }) } },
      }),
    )
    messages = [...(state.values.messages ?? []), ...messages]
    omitted = state.metadata.omitted_messages ?? 0
    if (omitted === 0) break
  }
  return { name, messages, omitted }
}

function shownIn(messages: Message[]): TranscriptMessage[] {
  let passages: Passage[] = []
  return messages.flatMap((message): TranscriptMessage[] => {
    switch (message.type) {
      case 'HumanMessage': {
        passages = []
        const files = (message.data.parts ?? []).flatMap((part) =>
          part.type === 'text' ? [] : [part.type === 'file' ? part.name : ''],
        )
        return [{ id: message.data.id, isOwn: true, text: message.data.content, files }]
      }
      case 'AIMessage': {
        const text = textOfAnswer(message)
        return text === '' ? [] : [{ id: message.data.id, isOwn: false, text, files: sourcesIn(message, passages) }]
      }
      case 'ToolMessage':
        passages = [...passages, ...parsePassages(message.data.content)]
        return []
      case 'SystemMessage':
        return []
    }
  })
}

/** What an answer was taken from, each file once. */
function sourcesIn(answer: AIMessage, passages: Passage[]): string[] {
  const { sources } = citationsIn([textOfAnswer(answer)], passages)
  return [...new Set(sources.map(({ passage }) => passage.file_name))]
}
