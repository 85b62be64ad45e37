import type { EmbedTexts } from '../texts/embed.ts'
import { element } from './elements.ts'

/**
 * What the model thinks, as one line that is open while it thinks and folds when the answer begins, unless the reader
 * chose. `show` takes all that was thought so far; `close` ends it.
 */
export function createThinking(texts: EmbedTexts, before: HTMLElement) {
  const line = element('details', { class: 'thinking' })
  const summary = element('summary')
  const body = element('div', { class: 'thought' })
  line.append(summary, body)
  let begun: number | undefined
  let seconds = 0
  let timer: ReturnType<typeof setInterval> | undefined
  let isChosen = false

  summary.addEventListener('click', () => {
    isChosen = true
  })

  function label(): void {
    if (timer !== undefined && begun !== undefined) seconds = Math.round((Date.now() - begun) / 1000)
    summary.textContent = timer === undefined ? texts.thoughtFor(seconds) : texts.thinkingFor(seconds)
  }

  function close(): void {
    if (timer === undefined) return
    label()
    clearInterval(timer)
    timer = undefined
    label()
    if (!isChosen) line.open = false
  }

  return {
    show(text: string, isThinking: boolean): void {
      if (text === '') return
      if (begun === undefined) {
        begun = Date.now()
        timer = setInterval(label, 1000)
        line.open = true
        before.before(line)
      }
      body.textContent = text
      if (isThinking) label()
      else close()
    },
    close,
  }
}
