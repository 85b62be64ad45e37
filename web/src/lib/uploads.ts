import { ApiError } from '../../../client/src/index.ts'
import { texts } from '../texts/index.ts'
import { type Schemas, api, keys, queryClient, unwrap, wordsOf } from './api.ts'
import { createListeners } from './listeners.ts'
import { newId } from './new-id.ts'
import { sendBody } from './send-body.ts'
import { say } from './toasts.ts'

/** A file that is being uploaded and processed. */
export interface Upload {
  key: string
  assistantId: string
  /** Where it was added: a chat, or the page of the assistant's files. */
  place: string
  name: string
  size: number
  phase: 'uploading' | 'processing' | 'ready' | 'failed'
  /** Progress within its phase, from 0 to 1. */
  progress: number
  error?: string
  /** Whether the service has stored it: then the list of files shows it too. */
  isStored: boolean
}

/** The page of an assistant's files, as a place where files are added. */
export const filesPage = 'files'
/** Files whose bytes are on the way at the same time. */
const sentAtOnce = 3
const pollMs = 700

let uploads: readonly Upload[] = []
const { notify, useRead } = createListeners()
/** Files whose turn to be sent has not come, the smallest first. */
let waiting: { assistantId: string; key: string; file: File }[] = []
let sending = 0

/** The uploads to an assistant, all or those that were begun in one place. */
export function useUploads(assistantId: string | undefined, place?: string): readonly Upload[] {
  const all = useRead(() => uploads)
  return all.filter((one) => one.assistantId === assistantId && (place === undefined || one.place === place))
}

/** Uploads files, each in its own request, several at once, and follows each until it is ready or failed. */
export function upload(assistantId: string, files: Iterable<File>, place: string): void {
  const started = Array.from(files, (file) => ({ assistantId, file, key: newId() }))
  uploads = [
    ...uploads,
    ...started.map(({ file, key }): Upload => ({
      key,
      assistantId,
      place,
      name: file.name,
      size: file.size,
      phase: 'uploading',
      progress: 0,
      isStored: false,
    })),
  ]
  announce()
  waiting = [...waiting, ...started].toSorted((a, b) => a.file.size - b.file.size)
  sendNext()
}

/** A chat that was begun has got its id. */
export function moveUploads(from: string, to: string): void {
  uploads = uploads.map((entry) => (entry.place === from ? { ...entry, place: to } : entry))
  announce()
}

export function forgetUpload(key: string): void {
  uploads = uploads.filter((entry) => entry.key !== key)
  announce()
}

function sendNext(): void {
  while (sending < sentAtOnce) {
    const next = waiting.shift()
    if (next === undefined) return
    sending += 1
    void uploadOne(next.assistantId, next.key, next.file)
  }
}

async function uploadOne(assistantId: string, key: string, file: File): Promise<void> {
  try {
    const sent = await send(assistantId, file, (progress) => change(key, { progress })).finally(() => {
      sending -= 1
      sendNext()
    })
    change(key, { phase: 'processing', progress: 0, isStored: true })
    await refresh(assistantId)
    const last = await followIngestion(assistantId, sent.ingestion_id, (progress) => change(key, { progress }))
    const { status, error } = last?.metadata ?? {}
    const isReady = status === 'ready'
    change(key, { phase: isReady ? 'ready' : 'failed', progress: 1, ...(error && { error }) })
    say(isReady ? texts.knowledge.ready(file.name) : texts.knowledge.failed(file.name), isReady ? 'plain' : 'danger')
    await refresh(assistantId)
    if (isReady) setTimeout(() => forgetUpload(key), 4000)
  } catch (error) {
    change(key, { phase: 'failed', error: wordsOf(error, texts.offline) })
    say(texts.knowledge.uploadFailed(file.name), 'danger')
  }
}

const refresh = (assistantId: string) => queryClient.invalidateQueries({ queryKey: keys.files(assistantId) })

function send(assistantId: string, file: File, onProgress: (progress: number) => void) {
  const form = new FormData()
  form.append('files', file)
  const path = `/assistants/${encodeURIComponent(assistantId)}/files?wait=false`
  return sendBody<Schemas['UploadFilesResponse']>(path, form, { onProgress })
}

/**
 * The file when its ingestion has ended. Asks again and again, because a stream for each file would use up the
 * connections that the browser has for the service.
 */
async function followIngestion(assistantId: string, ingestionId: string, onProgress: (progress: number) => void) {
  for (let failures = 0; ;) {
    try {
      const path = { aid: assistantId, ingestion_id: ingestionId }
      const seen = await unwrap(api.GET('/assistants/{aid}/ingestions/{ingestion_id}', { params: { path } }))
      failures = 0
      onProgress(seen.progress)
      if (seen.status === 'done') return seen.files[0]
    } catch (error) {
      failures += 1
      if (failures > 20 || (error instanceof ApiError && error.status < 500 && error.status !== 429)) throw error
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pollMs)
    })
  }
}

function change(key: string, part: Partial<Upload>): void {
  uploads = uploads.map((entry) => (entry.key === key ? { ...entry, ...part } : entry))
  announce()
}

function announce(): void {
  notify()
}
