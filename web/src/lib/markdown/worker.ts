import { readMarkdown } from './read.ts'
import type { ReadAnswer, ReadRequest } from './requests.ts'

/** What is used of the scope of a worker; the types of pages have no such scope. */
interface Scope {
  postMessage: (answer: ReadAnswer) => void
  addEventListener: (name: 'message', listener: (event: MessageEvent<ReadRequest>) => void) => void
}

const scope = globalThis as unknown as Scope

async function answer({ id, text, language }: ReadRequest): Promise<ReadAnswer> {
  try {
    if (language === undefined) return { id, written: await readMarkdown(text) }
    const { colour } = await import('./colour.ts')
    return { id, coloured: colour(text, language) }
  } catch {
    return { id }
  }
}

scope.addEventListener('message', ({ data }) => void answer(data).then((done) => scope.postMessage(done)))
scope.postMessage('ready')
