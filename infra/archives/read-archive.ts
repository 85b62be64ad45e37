import { wrongArchive } from '../../domain/archive/wrong-archive.ts'
import { AppError } from '../../domain/errors.ts'
import type { ReadArchive } from '../../services/import/read-archive.ts'
import { startThread } from '../threads/start-thread.ts'
import type { FromThread, ReadJob, Said, ToThread } from './messages.ts'

interface ReaderLimits {
  /** How long the thread may send nothing although it has work. The largest line needs far less. */
  silenceMs?: number
  memoryMb?: number
}

/**
 * Reads archives, each in a thread of its own: unpacking, parsing and checking what a user sent would delay others. The
 * thread is terminated when it makes no progress, when it takes too much memory, and when the caller stops reading.
 */
export function createArchiveReader({ silenceMs = 30_000, memoryMb = 256 }: ReaderLimits = {}): ReadArchive {
  return async function* readArchive(packed, { maxMb, userId, signal, onProgress }) {
    const thread = openThread(packed, { maxMb, userId }, { signal, silenceMs, memoryMb })
    try {
      for (;;) {
        const said = await thread.next()
        await onProgress(said.unpacked)
        if (said.type === 'done') return
        if (said.type === 'failed') throw new AppError(said.code, said.message, said)
        if (said.type === 'file') {
          const bytes = content()
          const { unpacked: _unpacked, ...announced } = said
          yield { ...announced, content: bytes }
          // Waits for a read that is under way.
          await bytes.return(undefined)
        } else if (said.type === 'record' || said.type === 'refused') yield said
      }
    } finally {
      await thread.close()
    }

    /** The bytes of a file; what is not read of them is skipped above. */
    async function* content(): AsyncGenerator<Buffer, undefined> {
      for (let said = await thread.next(); said.type !== 'file-end'; said = await thread.next()) {
        await onProgress(said.unpacked)
        if (said.type === 'failed') throw new AppError(said.code, said.message, said)
        if (said.type === 'bytes') yield Buffer.from(said.bytes.buffer)
      }
    }
  }
}

type Answer = Said & { unpacked: number }

function openThread(
  packed: AsyncIterator<Uint8Array>,
  job: ReadJob,
  { signal, silenceMs, memoryMb }: Required<ReaderLimits> & { signal: AbortSignal },
) {
  const thread = startThread(new URL('./thread.ts', import.meta.url), { name: 'archive', memoryMb, data: job })
  let answer = Promise.withResolvers<Answer>()
  let failure: Error | undefined
  let [isReading, isSpeaking, hasAnswer] = [false, true, false]
  let timer: NodeJS.Timeout | undefined

  const fail = (error: Error) => {
    clearTimeout(timer)
    failure ??= error
    answer.promise.catch(() => undefined)
    answer.reject(failure)
  }
  const abort = () => fail(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  /** The thread has something to do, unless it waits for more of the archive or for the reader of its answer. */
  const watch = () => {
    clearTimeout(timer)
    if (failure === undefined && !isReading && isSpeaking)
      timer = setTimeout(fail, silenceMs, wrongArchive('reading it takes too long'))
  }
  const post = (message: ToThread, transfer: ArrayBuffer[] = []) => thread.postMessage(message, transfer)

  const feed = async () => {
    isReading = true
    try {
      const next = await packed.next()
      if (next.done === true) post({ type: 'end' })
      else {
        const bytes = new Uint8Array(next.value)
        post({ type: 'piece', bytes }, [bytes.buffer])
      }
      isReading = false
      watch()
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  thread.on('message', (message: FromThread) => {
    if (message.type === 'more') void feed()
    else {
      isSpeaking = false
      answer.resolve(message)
    }
    watch()
  })
  thread.on('error', (error: Error) => {
    const isTooMuch = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    fail(isTooMuch ? wrongArchive('reading it takes too much memory') : error)
  })
  thread.on('exit', () => fail(new Error('the thread that reads an archive has ended')))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  watch()

  return {
    /** The next message of the thread. Asking for it means that the previous one has been handled. */
    async next(): Promise<Answer> {
      if (hasAnswer) {
        answer = Promise.withResolvers()
        hasAnswer = false
        isSpeaking = true
        if (failure === undefined) post({ type: 'continue' })
        else fail(failure)
        watch()
      }
      const said = await answer.promise
      hasAnswer = true
      return said
    },
    async close(): Promise<void> {
      fail(new Error('closed'))
      signal.removeEventListener('abort', abort)
      await thread.terminate()
    },
  }
}
