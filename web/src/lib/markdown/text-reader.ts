/** Milliseconds for one text. An ordinary one takes a few. */
const longestMs = 2000
/** Milliseconds in which a worker must have been loaded. */
const longestLoadMs = 20_000

/** What is used of a worker. */
export type ReadingWorker = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>

/** `late`: it takes too long; `none`: there is no worker; undefined: nobody needs it any more. */
export type Read<Answer> = Answer | 'late' | 'none' | undefined

interface Waiting<Answer> {
  request: { text: string; language?: string }
  isFirst: boolean
  done: (answer: Read<Answer>) => void
}

/**
 * Has texts read in a worker, one after the other, each with a time limit: a worker that does not answer is ended, and
 * the next text gets another one. Of several that wait, the newest is read first, because a chat is opened at its end.
 */
export class TextReader<Answer> {
  readonly #start: () => ReadingWorker
  #worker: ReadingWorker | undefined
  #isReady = false
  #current: Waiting<Answer> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #count = 0
  #waiting: Waiting<Answer>[] = []

  constructor(start: () => ReadingWorker) {
    this.#start = start
  }

  /** Starts the worker before there is something to read. */
  prepare(): void {
    if (this.#worker === undefined) this.#begin()
  }

  ask(
    request: { text: string; language?: string },
    signal: AbortSignal,
    place: 'first' | 'last',
  ): Promise<Read<Answer>> {
    return new Promise((done) => {
      if (signal.aborted) return done(undefined)
      const waiting: Waiting<Answer> = { request, isFirst: place === 'first', done }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        done(undefined)
      })
      this.#next()
    })
  }

  #next(): void {
    if (this.#current !== undefined || this.#waiting.length === 0) return
    if (this.#worker === undefined && !this.#begin()) return
    if (!this.#isReady) return
    const next = this.#waiting.findLast(({ isFirst }) => isFirst) ?? this.#waiting.at(-1)
    if (next === undefined) return
    this.#waiting = this.#waiting.filter((one) => one !== next)
    this.#current = next
    this.#count += 1
    this.#timer = setTimeout(() => this.#giveUp(), longestMs)
    this.#worker?.postMessage({ ...next.request, id: this.#count })
  }

  /** Whether a worker could be started. */
  #begin(): boolean {
    try {
      const worker = this.#start()
      this.#worker = worker
      this.#timer = setTimeout(() => this.#fail(), longestLoadMs)
      worker.addEventListener('message', ({ data }: MessageEvent<Answer & ('ready' | { id: number })>) => {
        if (worker === this.#worker) this.#hear(data)
      })
      worker.addEventListener('error', () => {
        if (worker === this.#worker) this.#fail()
      })
      return true
    } catch {
      this.#fail()
      return false
    }
  }

  #hear(answer: Answer & ('ready' | { id: number })): void {
    if (answer === 'ready') {
      clearTimeout(this.#timer)
      this.#isReady = true
    } else if (answer.id === this.#count) this.#finish(answer)
    this.#next()
  }

  #finish(answer: Read<Answer>): void {
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    current?.done(answer)
  }

  #giveUp(): void {
    this.#end()
    this.#finish('late')
    this.#next()
  }

  /** Without a worker, everything is shown as it is. */
  #fail(): void {
    this.#end()
    this.#finish('none')
    const waiting = this.#waiting
    this.#waiting = []
    for (const { done } of waiting) done('none')
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#worker?.terminate()
    this.#worker = undefined
    this.#isReady = false
  }
}
