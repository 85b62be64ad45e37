import { micromark } from 'micromark'
import { ApiError, type Message, type RunSnapshot, streamRun } from '../../../client/src/index.ts'
import { languages } from '../texts/embed.ts'
import { type Options, isPageDark, optionsOf } from './options.ts'
import { sheet } from './style.ts'

interface Kept {
  threadId?: string
  lines: { who: 'human' | 'ai'; text: string }[]
}

const script = document.currentScript
if (script instanceof HTMLScriptElement) {
  const options = optionsOf(script)
  if (options.assistantId === '') console.error('embed.js: the script tag needs data-assistant')
  else if (document.body) start(options)
  else document.addEventListener('DOMContentLoaded', () => start(options))
}

/** A chat bubble in the corner of the page. Its shadow root separates its styles from those of the page. */
function start(options: Options): void {
  const texts = languages[options.language]
  const host = document.createElement('assistant-chat')
  if (options.color !== undefined) paint(host, options.color)
  const takeColors = () => {
    host.dataset['theme'] = options.theme ?? (isPageDark() ? 'dark' : 'light')
  }
  takeColors()
  const root = host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [sheet]
  const opener = element('button', {
    class: 'opener',
    type: 'button',
    'aria-label': texts.open,
    'aria-expanded': 'false',
  })
  opener.append(icon())
  const panel = element('section', {
    class: 'panel',
    role: 'dialog',
    'aria-label': options.title,
    lang: options.language,
    hidden: '',
  })
  const head = element('header')
  const close = element('button', { type: 'button', 'aria-label': texts.close })
  close.textContent = '×'
  const restart = element('button', { type: 'button', 'aria-label': texts.restart, title: texts.restart })
  restart.textContent = '↺'
  head.append(element('strong', {}, options.title), restart, close)
  const log = element('div', { class: 'log', role: 'log', tabindex: '0', 'aria-label': texts.messages })
  const form = element('form')
  const input = element('textarea', { rows: '1', 'aria-label': texts.message, placeholder: texts.placeholder })
  const send = element('button', { type: 'submit', 'aria-label': texts.send })
  send.textContent = '↑'
  form.append(input, send)
  const starters = element('div', { class: 'starters', role: 'group', 'aria-label': texts.starters })
  for (const starter of options.starters) {
    const button = element('button', { type: 'button' }, starter)
    button.addEventListener('click', () => begin(starter))
    starters.append(button)
  }
  panel.append(head, log, starters, form)
  root.append(panel, opener)
  document.body.append(host)

  const keptKey = `assistant-chat.${options.assistantId}`
  const kept = readKept(keptKey)
  showLines()
  /** Set while an answer is under way. */
  let answering: AbortController | undefined

  function showLines(): void {
    if (kept.lines.length === 0) addLine(log, 'ai', options.greeting)
    for (const { who, text } of kept.lines) addLine(log, who, text)
    starters.hidden = kept.lines.length > 0 || options.starters.length === 0
  }

  const show = (isOpen: boolean) => {
    // The page may have changed its colours meanwhile.
    if (isOpen) takeColors()
    panel.hidden = !isOpen
    opener.hidden = isOpen
    opener.setAttribute('aria-expanded', String(isOpen))
    if (isOpen) input.focus()
    else opener.focus()
  }
  opener.addEventListener('click', () => show(true))
  close.addEventListener('click', () => show(false))
  panel.addEventListener('keydown', (event) => {
    // The page may handle keys itself.
    event.stopPropagation()
    if (event.key === 'Escape') show(false)
  })
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (answering) return answering.abort()
    begin(input.value.trim())
  })
  restart.addEventListener('click', () => {
    answering?.abort()
    Object.assign(kept, { threadId: undefined, lines: [] })
    keep()
    log.replaceChildren()
    showLines()
    input.focus()
  })

  function begin(text: string): void {
    if (text === '' || answering) return
    input.value = ''
    starters.hidden = true
    const stop = new AbortController()
    answering = stop
    setSend('■', texts.stop)
    void ask(text, stop.signal).finally(() => {
      answering = undefined
      setSend('↑', texts.send)
    })
  }

  function setSend(sign: string, label: string): void {
    send.textContent = sign
    send.setAttribute('aria-label', label)
  }

  function keep(): void {
    try {
      sessionStorage.setItem(keptKey, JSON.stringify(kept))
    } catch {
      // Without storage the chat is lost when the page is left.
    }
  }

  async function ask(text: string, signal: AbortSignal): Promise<void> {
    const { lines } = kept
    addLine(log, 'human', text)
    lines.push({ who: 'human', text })
    const line = addLine(log, 'ai', '')
    line.classList.add('busy')
    log.setAttribute('aria-busy', 'true')
    let said = ''
    let runId = ''
    try {
      for await (const snapshot of run(options, kept.threadId, { text, signal })) {
        ;({ runId } = snapshot)
        if (snapshot.threadId && lines === kept.lines) kept.threadId = snapshot.threadId
        said = textOf(snapshot.messages)
        render(line, said)
        log.scrollTop = log.scrollHeight
        if (snapshot.status === 'failed') throw new Error(texts.failed)
      }
    } catch (error) {
      line.append(element('p', { class: 'problem', role: 'alert' }, wordsOf(error, options)))
    }
    if (signal.aborted && runId !== '') void cancel(options, kept.threadId, runId)
    line.classList.remove('busy')
    log.removeAttribute('aria-busy')
    if (said !== '') lines.push({ who: 'ai', text: said })
    keep()
  }
}

/** With text on it in black or white, whichever can be read better. */
function paint(host: HTMLElement, color: string): void {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  host.style.setProperty('--accent', color)
  host.style.setProperty('--on-accent', red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#0d1014' : '#fff')
}

function run(
  { baseUrl, assistantId, token }: Options,
  threadId: string | undefined,
  { text, signal }: { text: string; signal: AbortSignal },
): AsyncGenerator<RunSnapshot> {
  return streamRun({
    baseUrl,
    signal,
    path: '/public/runs',
    ...(token !== undefined && { token: () => token }),
    body: {
      assistant_id: assistantId,
      ...(threadId !== undefined && { thread_id: threadId }),
      input: [{ type: 'human', content: text }],
    },
  })
}

/** Ends a run that the reader has stopped. Only the holder of a token may; without one it runs to its end unseen. */
async function cancel({ baseUrl, token }: Options, threadId: string | undefined, runId: string): Promise<void> {
  if (token === undefined || threadId === undefined) return
  const url = `${baseUrl}/public/compat/v1/threads/${encodeURIComponent(threadId)}/runs/${encodeURIComponent(runId)}/cancel`
  await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } }).catch(() => undefined)
}

/** What a refusal means to the reader: at a limit, until when. */
function wordsOf(error: unknown, { language }: Options): string {
  const texts = languages[language]
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status !== 402)) return texts.failed
  if (error.retryAfterSeconds === undefined) return texts.limitedForNow
  const until = new Date(Date.now() + error.retryAfterSeconds * 1000)
  const isToday = until.toDateString() === new Date().toDateString()
  const format = new Intl.DateTimeFormat(language, {
    ...(isToday ? {} : { weekday: 'long' }),
    hour: 'numeric',
    minute: '2-digit',
  })
  return texts.limited(format.format(until))
}

function textOf(messages: Message[]): string {
  return messages
    .filter(({ type, data }) => type === 'AIMessage' && data.content !== '')
    .map(({ data }) => data.content)
    .join('\n\n')
}

function addLine(log: HTMLElement, who: 'human' | 'ai', text: string): HTMLElement {
  const line = element('div', { class: `line ${who}` })
  if (who === 'ai') render(line, text)
  else line.textContent = text
  log.append(line)
  log.scrollTop = log.scrollHeight
  return line
}

/** Markdown without HTML, and without images, because loading an image would tell its server who reads the answer. */
function render(line: HTMLElement, text: string): void {
  const template = document.createElement('template')
  template.innerHTML = micromark(text)
  for (const image of template.content.querySelectorAll('img')) image.replaceWith(image.alt)
  for (const link of template.content.querySelectorAll('a')) {
    link.target = '_blank'
    link.rel = 'noreferrer noopener'
  }
  line.replaceChildren(template.content)
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  text?: string,
): HTMLElementTagNameMap[K] {
  const result = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value)
  if (text !== undefined) result.textContent = text
  return result
}

function icon(): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  shape.setAttribute('d', 'M5 4h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H10l-5 4v-4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z')
  svg.append(shape)
  return svg
}

function readKept(key: string): Kept {
  try {
    return { lines: [], ...(JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<Kept>) }
  } catch {
    return { lines: [] }
  }
}
