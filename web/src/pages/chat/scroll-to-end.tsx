import { ArrowDown } from 'lucide-react'
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'

export interface ScrollHandle {
  /** Shows the newest message, and stays with it. */
  toEnd(): void
}

/** How near to the end, in pixels, a reader who scrolls down is taken to want to stay there. */
const near = 8
/** So long after a key, a touch or a press, a move of the view is the reader's. */
const touchMs = 800
/** From this distance the button is of use. */
const far = 160

interface ScrollProps {
  /** How much was said so far: the button tells when that has grown, and not when only the page has. */
  said: number
  children: ReactNode
  ref?: Ref<ScrollHandle>
}

/**
 * Stays at the newest message while the content grows, also when a formula or a diagram comes late. Any move upwards
 * lets go at once; the end, or the button, takes hold again.
 */
export function ScrollToEnd({ said, children, ref }: ScrollProps) {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const last = useRef({ top: 0, height: 0 })
  const touchedAt = useRef(-touchMs)
  const [isUnavailable, setAway] = useState(false)
  const [hasNews, setNews] = useState(false)
  const saidBefore = useRef(said)

  const toEnd = () => {
    follows.current = true
    setAway(false)
    setNews(false)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }
  useImperativeHandle(ref, () => ({ toEnd }), [])

  useEffect(() => {
    const element = box.current
    if (element === null || content.current === null) return
    const grown = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight
      last.current = { top: element.scrollTop, height: element.scrollHeight }
      setAway(isFarFromEnd(element, follows.current))
    })
    grown.observe(content.current)
    grown.observe(element)
    return () => grown.disconnect()
  }, [])

  useEffect(() => {
    if (said > saidBefore.current && !follows.current) setNews(true)
    saidBefore.current = said
  }, [said])

  const letGo = () => {
    follows.current = false
  }
  const touch = () => {
    touchedAt.current = performance.now()
  }
  const scrolled = (element: HTMLElement) => {
    const { top, height } = last.current
    last.current = { top: element.scrollTop, height: element.scrollHeight }
    // Content that becomes shorter, and perhaps longer again, moves the view up by itself.
    const isMoved = element.scrollHeight === height || performance.now() - touchedAt.current < touchMs
    if (element.scrollTop < top && element.scrollHeight >= height && isMoved) letGo()
    // A move that the page made itself is in `top` already: it does not undo that the reader has let go since.
    if (element.scrollTop > top && distanceOf(element) <= near) {
      follows.current = true
      setNews(false)
    }
    setAway(isFarFromEnd(element, follows.current))
  }
  return (
    <div className="chat-scroll-frame">
      <div
        className="chat-scroll"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={texts.chat.messages}
        onWheel={({ deltaY }) => {
          if (deltaY < 0) letGo()
        }}
        onKeyDown={touch}
        onTouchMove={touch}
        onPointerDown={touch}
        onScroll={({ currentTarget }) => scrolled(currentTarget)}
      >
        <div ref={content} className="chat-scroll-content">
          {children}
        </div>
      </div>
      {isUnavailable && (
        <IconButton
          className={hasNews ? 'to-end to-end-news' : 'to-end'}
          label={texts.chat.jump}
          icon={<ArrowDown size={18} />}
          onClick={toEnd}
        />
      )}
    </div>
  )
}

const isFarFromEnd = (element: HTMLElement, follows: boolean) => !follows && distanceOf(element) > far
const distanceOf = ({ scrollTop, scrollHeight, clientHeight }: HTMLElement) => scrollHeight - scrollTop - clientHeight
