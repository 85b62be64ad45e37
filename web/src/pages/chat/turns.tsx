import { type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Schemas } from '../../lib/api.ts'
import type { Turn as TurnData } from '../../lib/conversation.ts'
import { textOfAnswer } from '../../lib/conversation.ts'
import { texts } from '../../texts/index.ts'
import type { TurnActions } from './turn-parts.ts'
import { Turn } from './turn.tsx'
import type { useChat } from './use-chat.ts'

interface TurnsProps {
  chat: Pick<ReturnType<typeof useChat>, 'turns' | 'followedOf' | 'current' | 'authors' | 'thread' | 'sides' | 'stop'>
  actions: TurnActions
  /** The message that the address names. */
  wanted: string | undefined
  /** Whether the user may write in this chat. */
  canChat: boolean
}

const t = texts.chat
/** Turns at the end that are drawn at once. */
const mostAtOnce = 6
/** Turns of a chat; of a longer one, those that are far away leave the page again. */
const mostKept = 60
/** How far from what is in sight a turn is drawn, in pixels. */
const near = 1500

/** The turns of a chat. Only those near to what is in sight are in the page; of the others, their height. */
export function Turns({ chat, actions, wanted, canChat }: TurnsProps) {
  const { turns, followedOf, current, authors, thread, sides } = chat
  const [watcher] = useState(() => new Watcher())
  useEffect(() => () => watcher.end(), [watcher])
  const isPrinted = useIsPrinted()
  return turns.map((turn, index) => (
    <Place
      key={turn.human?.data.id ?? `start-${index}`}
      watcher={watcher}
      turn={turn}
      isFirst={index >= turns.length - mostAtOnce || (wanted !== undefined && holds(turn, wanted))}
      isPrinted={isPrinted}
      isKept={turns.length <= mostKept || index === turns.length - 1}
    >
      <Turn
        turn={turn}
        author={authors.length === 0 ? undefined : authorOf(turn, authors, thread.data?.created_by?.user_id)}
        followed={turn.run && followedOf(turn.run.run_id)}
        canChange={canChat && current === undefined}
        canChat={canChat}
        beside={canChat && turn.human && sides.includes(turn.human.data.id) ? chat : undefined}
        waitsFor={turn.isWaiting ? waitsFor(turn, turns) : undefined}
        actions={actions}
      />
    </Place>
  ))
}

/** Whether the page is being printed: on paper, all is in sight. */
function useIsPrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false)
  useEffect(() => {
    // The browser prints when this returns.
    const begin = () => flushSync(() => setPrinted(true))
    const end = () => setPrinted(false)
    window.addEventListener('beforeprint', begin)
    window.addEventListener('afterprint', end)
    return () => {
      window.removeEventListener('beforeprint', begin)
      window.removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinted
}

/** Who wrote a question. Messages that name nobody are of whoever made the chat; those that wait are the reader's own. */
function authorOf({ human }: TurnData, authors: Schemas['Maker'][], maker: string | undefined) {
  const id = human?.data.author_id ?? maker
  return authors.find(({ user_id: user }) => user === id)
}

/** For what a message waits, in words. */
function waitsFor(turn: TurnData, turns: TurnData[]): string {
  if (turns.some(({ run }) => run?.status === 'interrupted')) return t.waitsForDecision
  const before = turns.filter(({ isWaiting }) => isWaiting).indexOf(turn)
  return before > 0 ? t.waitsForMessages(before) : t.waitsForAnswer
}

interface PlaceProps {
  watcher: Watcher
  turn: TurnData
  isFirst: boolean
  isPrinted: boolean
  isKept: boolean
  children: ReactNode
}

function Place({ watcher, turn, isFirst, isPrinted, isKept, children }: PlaceProps) {
  const box = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(isFirst)
  const [height, setHeight] = useState<number>()
  useEffect(() => {
    const element = box.current
    if (element === null || (isNear && isKept)) return
    return watcher.watch(element, (nowNear) => {
      if (!nowNear && (isKept || isUsed(element))) return
      if (!nowNear) setHeight(element.offsetHeight)
      setNear(nowNear)
    })
  }, [watcher, isNear, isKept])
  const isDrawn = isNear || isPrinted
  return (
    <div ref={box} className="turn" style={isDrawn ? undefined : { height: height ?? estimateOf(turn) }}>
      {isDrawn && children}
    </div>
  )
}

const holds = ({ human, answers }: TurnData, id: string) =>
  human?.data.id === id || answers.some(({ data }) => data.id === id)

/** Whether it has the focus, or something is selected. */
const isUsed = (element: HTMLElement) =>
  element.contains(document.activeElement) || document.getSelection()?.isCollapsed === false

/** The height of a turn that was not drawn yet, in pixels. */
function estimateOf({ human, answers }: TurnData): number {
  const lines = [human?.data.content ?? '', ...answers.map(textOfAnswer)].map(
    (text) => text.length / 85 + (text.match(/\n/g)?.length ?? 0) * 0.6,
  )
  return Math.min(120 + 27 * lines.reduce((sum, amount) => sum + amount, 0), 2500)
}

/** One observer for all turns of a chat. */
class Watcher {
  #observer: IntersectionObserver | undefined
  readonly #listeners = new Map<Element, (isNear: boolean) => void>()

  watch(element: Element, listener: (isNear: boolean) => void): () => void {
    this.#observer ??= new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) this.#listeners.get(target)?.(isIntersecting)
      },
      { root: element.closest('.chat-scroll'), rootMargin: `${near}px 0px` },
    )
    this.#listeners.set(element, listener)
    this.#observer.observe(element)
    return () => {
      this.#listeners.delete(element)
      this.#observer?.unobserve(element)
    }
  }

  end(): void {
    this.#observer?.disconnect()
    this.#observer = undefined
  }
}
