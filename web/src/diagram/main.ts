import library from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'
import './frame.css'
import { type DrawAnswer, type DrawRequest, longestDiagram } from './messages.ts'

/**
 * The page of the frame in which diagrams are drawn. Their source comes from a model, so the frame has an origin of its
 * own, loads nothing from elsewhere, and knows nothing but the text of its diagram.
 */
interface Mermaid {
  initialize(options: object): void
  render(id: string, text: string): Promise<{ svg: string }>
}

const loaded = load()

window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
  if (source !== window.parent || !isRequest(data)) return
  void draw(data).then(
    (drawn) => answer({ drawn }),
    () => answer({}),
  )
})

/** The library is a script that sets a global. */
function load(): Promise<Mermaid> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = library
    script.addEventListener('load', () => resolve((globalThis as unknown as { mermaid: Mermaid }).mermaid))
    script.addEventListener('error', () => reject(new Error('The library cannot be loaded.')))
    document.head.append(script)
  })
}

async function draw({ text, isDark }: DrawRequest): Promise<NonNullable<DrawAnswer['drawn']>> {
  const mermaid = await loaded
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light'
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    htmlLabels: false,
    suppressErrorRendering: true,
    theme: isDark ? 'dark' : 'default',
    fontFamily: 'system-ui, sans-serif',
    maxTextSize: longestDiagram,
    maxEdges: 300,
  })
  const { svg } = await mermaid.render('diagram', text)
  document.body.innerHTML = svg
  const { width, height } = document.body.firstElementChild?.getBoundingClientRect() ?? { width: 0, height: 0 }
  return { width, height }
}

function answer(message: DrawAnswer): void {
  // The frame's origin is opaque, so it cannot name the one of its parent; nothing here is secret.
  window.parent.postMessage(message, '*')
}

function isRequest(data: unknown): data is DrawRequest {
  return typeof data === 'object' && data !== null && typeof Reflect.get(data, 'text') === 'string'
}
