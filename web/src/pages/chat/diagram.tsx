import { useEffect, useRef, useState } from 'react'
import { type DrawAnswer, type DrawRequest, longestDiagram } from '../../diagram/messages.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'

/** An answer still grows; a diagram is drawn when its source has rested for this time, in ms. */
const restMs = 500
const longestWaitMs = 10_000
const tallest = 4000

/** A diagram in Mermaid's language; its source until it is drawn, and if it cannot be. */
export default function Diagram({ text }: { text: string }) {
  const [rested, setRested] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text])
  if (text.length > longestDiagram) return <Source text={text} />
  return rested === text ? (
    <Drawing key={text} text={text} />
  ) : (
    <div data-pending>
      <Source text={text} />
    </div>
  )
}

const Source = ({ text }: { text: string }) => <CodeBlock text={text} label={texts.chat.result} language="mermaid" />

/** Drawn in a sandboxed frame, because a model wrote it. A frame that does not answer in time is taken away. */
function Drawing({ text }: { text: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [state, setState] = useState<'waiting' | 'failed' | { height: number }>('waiting')
  const [isSource, setSource] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setState('failed'), longestWaitMs)
    const listen = ({ source, data }: MessageEvent<DrawAnswer>) => {
      if (source === null || source !== frame.current?.contentWindow) return
      clearTimeout(timer)
      const height = Number(data?.drawn?.height)
      setState(height > 0 ? { height: Math.min(Math.ceil(height), tallest) } : 'failed')
    }
    window.addEventListener('message', listen)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('message', listen)
    }
  }, [])
  const ask = () => {
    const request: DrawRequest = { text, isDark: document.documentElement.dataset['theme'] === 'dark' }
    // The frame's origin is opaque, so it cannot be named; only the page that was put into it can listen.
    frame.current?.contentWindow?.postMessage(request, '*')
  }
  if (state === 'failed') return <Source text={text} />
  const isShown = state !== 'waiting' && !isSource
  return (
    <div className="diagram" data-pending={state === 'waiting' ? '' : undefined}>
      <iframe
        ref={frame}
        className={isShown ? 'diagram-frame' : 'diagram-frame diagram-waiting'}
        src="/diagram"
        sandbox="allow-scripts"
        title={texts.chat.diagram}
        height={isShown ? state.height : 0}
        onLoad={ask}
      />
      {!isShown && <Source text={text} />}
      {state !== 'waiting' && (
        <Button size="small" onClick={() => setSource(!isSource)}>
          {isSource ? texts.chat.showDiagram : texts.chat.showSource}
        </Button>
      )}
    </div>
  )
}
