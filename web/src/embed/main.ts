import { composes } from '../lib/composes.ts'
import { textsIn } from '../texts/embed.ts'
import { type Answer, answerOf, plainAnswer, render, thoughtOf } from './answer.ts'
import { bubbleIcon, element, face, icon, iconButton, signButton } from './elements.ts'
import { keepChat, readChat } from './kept-chat.ts'
import { type Options, isPageDark, optionsOf } from './options.ts'
import { createReading, readForPage } from './reading.ts'
import { cancel, rate, run, wordsOf } from './service.ts'
import { createSourcePanel } from './source-panel.ts'
import { createSheet } from './style.ts'
import { createThinking } from './thinking.ts'

const script = typeof document === 'undefined' ? undefined : document.currentScript
if (script === undefined) readForPage()
else if (script instanceof HTMLScriptElement) {
  const options = optionsOf(script)
  if (options.assistantId === '') console.error('embed.js: the script tag needs data-assistant')
  else if (document.body) start(options)
  else document.addEventListener('DOMContentLoaded', () => start(options))
}

/** A chat: a bubble in the corner of the page, or the whole page. Its shadow root separates its styles from the page's. */
function start(options: Options): void {
  const host = element('assistant-chat' as 'div', { 'data-layout': options.layout })
  if (options.color !== undefined) paint(host, options.color)
  const takeColors = () => {
    host.dataset['theme'] = options.theme ?? (isPageDark() ? 'dark' : 'light')
  }
  takeColors()
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', takeColors)
  const root = host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [createSheet()]
  const chat = createChat(options, root)
  root.append(chat.panel)
  if (options.layout === 'page') {
    document.documentElement.lang ||= options.language
    ;(document.querySelector('main') ?? document.body).append(host)
    return
  }
  addOpener(options, { root, chat, takeColors })
  document.body.append(host)
}

interface Bubble {
  root: ShadowRoot
  chat: ReturnType<typeof createChat>
  takeColors: () => void
}

function addOpener({ language, layout }: Options, { root, chat: { panel, head, input, source }, takeColors }: Bubble) {
  const texts = textsIn(language)
  const opener = element('button', { class: 'opener', type: 'button', 'aria-label': texts.open })
  opener.append(bubbleIcon())
  root.append(opener)
  const show = (isOpen: boolean) => {
    panel.hidden = !isOpen
    opener.hidden = isOpen
    opener.setAttribute('aria-expanded', String(isOpen))
  }
  const close = iconButton('close', texts.close)
  head.append(close)
  opener.addEventListener('click', () => {
    // The page may have changed its colours meanwhile.
    takeColors()
    show(true)
    input.focus()
  })
  const hide = () => {
    show(false)
    opener.focus()
  }
  close.addEventListener('click', hide)
  panel.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    if (source.isOpen) source.close()
    else hide()
  })
  // A preview stands open, and leaves the focus to the page around it.
  show(layout === 'preview')
}

/** The panel with its messages, and the field for the next one. */
function createChat(options: Options, root: ShadowRoot) {
  const texts = textsIn(options.language)
  const isPage = options.layout === 'page'
  const panel = element('section', {
    class: 'panel',
    lang: options.language,
    ...(isPage ? {} : { role: 'dialog', 'aria-label': options.title }),
  })
  const head = element('header')
  if (options.face !== undefined) head.append(face(options.face))
  const restart = iconButton('restart', texts.restart)
  head.append(element(isPage ? 'h1' : 'strong', { class: 'title' }, options.title), restart)
  const log = element('div', { class: 'log', role: 'log', tabindex: '0', 'aria-label': texts.messages })
  const form = element('form')
  const input = element('textarea', { rows: '1', 'aria-label': texts.message, placeholder: texts.placeholder })
  const send = element('button', { type: 'submit', 'aria-label': texts.send })
  send.append(icon('send'))
  form.append(input, send)
  const starters = element('div', { class: 'starters', role: 'group', 'aria-label': texts.starters })
  for (const starter of options.starters) {
    const button = element('button', { type: 'button' }, starter)
    button.addEventListener('click', () => begin(starter))
    starters.append(button)
  }
  const source = createSourcePanel(texts)
  const note = element('p', { class: 'kept' }, texts.kept)
  note.hidden = !options.isKept
  panel.append(head, log, starters, note, form, source.panel)

  const shown = {
    table: texts.table,
    labelOf: ({ number, file }: { number: number; file: string }) => texts.source(number, file),
    onOpen: (cited: Answer['cited'][number]) =>
      source.open(cited, root.activeElement instanceof HTMLElement ? root.activeElement : undefined),
    onDrawn: () => stay(),
    read: createReading(options.scriptUrl),
  }
  /** Whether the newest line is in sight, where the view then stays. */
  let follows = true
  const stay = () => {
    if (follows) log.scrollTop = log.scrollHeight
  }
  const toEnd = () => {
    follows = true
    stay()
  }
  log.addEventListener('scroll', () => {
    follows = log.scrollHeight - log.scrollTop - log.clientHeight < 40
  })
  const keptKey = options.layout === 'preview' ? undefined : `assistant-chat.${options.assistantId}`
  const kept = readChat(keptKey)
  /** Set while an answer is under way. */
  let answering: { stop: () => void } | undefined
  showLines()

  panel.addEventListener('keydown', (event) => {
    // The page may handle keys itself.
    event.stopPropagation()
    if (isPage && event.key === 'Escape') source.close()
  })
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || composes(event)) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (answering) return answering.stop()
    begin(input.value.trim())
  })
  restart.addEventListener('click', () => {
    answering?.stop()
    source.close()
    Object.assign(kept, { threadId: undefined, lines: [] })
    keepChat(keptKey, kept)
    log.replaceChildren()
    showLines()
    input.focus()
  })

  function showLines(): void {
    if (kept.lines.length === 0) {
      // A page shows who answers before the first question.
      if (isPage && options.face !== undefined) log.append(face(options.face))
      addLine('ai', plainAnswer(options.greeting))
      if (isPage && options.description) log.append(element('p', { class: 'about' }, options.description))
    }
    for (const { who, ...answer } of kept.lines) addLine(who, answer)
    starters.hidden = kept.lines.length > 0 || options.starters.length === 0
  }

  function addLine(who: 'human' | 'ai', answer: Answer): HTMLElement {
    const line = element('div', { class: `line ${who}` })
    if (who === 'ai') render(line, answer, shown)
    else line.textContent = answer.text
    log.append(line)
    toEnd()
    return line
  }

  function begin(text: string): void {
    if (text === '' || answering) return
    input.value = ''
    starters.hidden = true
    const stopping = createStop(options)
    answering = stopping
    setSend('stop', texts.stop)
    void ask(text, stopping).finally(() => {
      answering = undefined
      setSend('send', texts.send)
    })
  }

  function setSend(name: 'send' | 'stop', label: string): void {
    send.replaceChildren(icon(name))
    send.setAttribute('aria-label', label)
  }

  async function ask(text: string, { signal, begun }: ReturnType<typeof createStop>): Promise<void> {
    const { lines } = kept
    const question = plainAnswer(text)
    addLine('human', question)
    lines.push({ who: 'human', ...question })
    const line = addLine('ai', plainAnswer(''))
    line.classList.add('busy')
    const thinking = createThinking(texts, line)
    let rated: string | undefined
    log.setAttribute('aria-busy', 'true')
    const entry = { who: 'ai' as const, ...plainAnswer('') }
    const keep = () => {
      if (lines === kept.lines) keepChat(keptKey, kept)
    }
    // A reader who leaves in the middle of an answer finds what was there.
    window.addEventListener('pagehide', keep)
    try {
      for await (const snapshot of run(options, kept.threadId, { text, signal })) {
        if (snapshot.threadId && lines === kept.lines) kept.threadId = snapshot.threadId
        if (snapshot.runId !== '') begun(snapshot.runId)
        if (snapshot.isKept) note.hidden = false
        if (snapshot.isKept && snapshot.status === 'ended') rated = snapshot.runId
        Object.assign(entry, answerOf(snapshot.messages, snapshot.status !== 'running'))
        if (entry.text !== '' && lines.at(-1) !== entry) lines.push(entry)
        render(line, entry, shown)
        thinking.show(thoughtOf(snapshot.messages), entry.text === '' && snapshot.status === 'running')
        stay()
        if (snapshot.status === 'failed') throw new Error(texts.failed)
      }
    } catch (error) {
      line.append(element('p', { class: 'problem', role: 'alert' }, await wordsOf(error, options)))
    }
    thinking.close()
    if (rated !== undefined) line.append(thumbs(options, rated))
    line.classList.remove('busy')
    log.removeAttribute('aria-busy')
    window.removeEventListener('pagehide', keep)
    keep()
  }

  return { panel, head, input, source }
}

/** Two buttons, with which a reader says whether an answer helped. */
function thumbs(options: Options, runId: string): HTMLElement {
  const texts = textsIn(options.language)
  const group = element('div', { class: 'thumbs' })
  for (const [score, sign, label] of [
    [1, '👍', texts.good],
    [0, '👎', texts.bad],
  ] as const) {
    const button = signButton(sign, label)
    button.addEventListener('click', () => {
      void rate(options, runId, score).then((isTaken) => {
        if (isTaken) group.replaceChildren(element('span', { role: 'status' }, texts.thanks))
      })
    })
    group.append(button)
  }
  return group
}

/** How long a reader who stops waits for the id of the run, without which it cannot be cancelled. */
const idMs = 5000

/** Stops an answer: its run is cancelled, too, even if it has only just been asked for. */
function createStop(options: Options) {
  const abort = new AbortController()
  let runId: string | undefined
  let isStopped = false
  const end = () => {
    if (runId !== undefined) void cancel(options, runId)
    abort.abort()
  }
  return {
    signal: abort.signal,
    begun(id: string) {
      const isNew = runId === undefined
      runId = id
      if (isStopped && isNew) end()
    },
    stop() {
      if (isStopped) return
      isStopped = true
      if (runId === undefined) setTimeout(() => abort.abort(), idMs)
      else end()
    },
  }
}

/** With text on it in black or white, whichever can be read better. */
function paint(host: HTMLElement, color: string): void {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  host.style.setProperty('--accent', color)
  host.style.setProperty('--on-accent', red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#0d1014' : '#fff')
}
