import { useEffect, useRef } from 'react'
import { texts } from '../../texts/index.ts'

/** Scrolls to the newest message, unless the reader has scrolled up. */
export function ScrollToEnd({ watch, children }: { watch: unknown; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = box.current
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [watch])
  return (
    <div
      className="chat-scroll"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={texts.chat.messages}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 80
      }}
    >
      {children}
    </div>
  )
}
