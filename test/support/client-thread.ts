import { Worker } from 'node:worker_threads'

export interface ThreadRequest {
  url: string
  method: string
  headers: Record<string, string>
  body?: string | undefined
}

export interface ThreadAnswer {
  /** 0 if none came in time. */
  status: number
  /** Its beginning. */
  text: string
}

/** Sends requests from a thread of its own, so that they take no processor time of this one. */
export function startClientThread() {
  const worker = new Worker(source, { eval: true, execArgv: [], env: {} })
  worker.unref()
  return {
    /** A stream is read for `patienceMs` at most. */
    send(request: ThreadRequest, patienceMs: number): Promise<ThreadAnswer> {
      const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>()
      worker.once('message', resolve).once('error', reject)
      worker.ref()
      worker.postMessage({ request, patienceMs })
      return promise.finally(() => {
        worker.off('error', reject)
        worker.unref()
      })
    },
    close: () => worker.terminate(),
  }
}

const source = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', async ({ request: { url, ...options }, patienceMs }) => {
  const answer = { status: 0, text: '' }
  try {
    const response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(patienceMs) })
    answer.status = response.status
    const decoder = new TextDecoder()
    for await (const piece of response.body ?? [])
      if (answer.text.length < 2000) answer.text += decoder.decode(piece, { stream: true })
  } catch (error) {
    if (answer.status === 0) answer.text = String(error.cause ?? error)
  }
  parentPort.postMessage(answer)
})
`
