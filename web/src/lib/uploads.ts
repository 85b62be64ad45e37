import { useSyncExternalStore } from 'react'
import { ApiError, readEvents } from '../../../client/src/index.ts'
import { texts } from '../texts/index.ts'
import { type Schemas, keys, queryClient, tokenOf, wordsOf } from './api.ts'
import { newId } from './new-id.ts'
import { sendBody } from './send-body.ts'
import { say } from './toasts.ts'

/** A file that is being uploaded and processed. */
export interface Upload {
  key: string
  assistantId: string
  name: string
  size: number
  phase: 'uploading' | 'processing' | 'ready' | 'failed'
  /** Progress within its phase, from 0 to 1. */
  progress: number
  error?: string
  /** Whether the service has stored it: then the list of files shows it too. */
  isStored: boolean
}

let uploads: readonly Upload[] = []
const listeners = new Set<() => void>()

export function useUploads(assistantId: string | undefined): readonly Upload[] {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => uploads,
  )
  return all.filter((upload) => upload.assistantId === assistantId)
}

/** Uploads files, each in its own request, and follows each until it is ready or failed. */
export async function upload(assistantId: string, files: Iterable<File>): Promise<void> {
  const started = Array.from(files, (file) => ({ file, key: newId() }))
  uploads = [
    ...uploads,
    ...started.map(({ file, key }): Upload => ({
      key,
      assistantId,
      name: file.name,
      size: file.size,
      phase: 'uploading',
      progress: 0,
      isStored: false,
    })),
  ]
  announce()
  for (const { file, key } of started) await uploadOne(assistantId, key, file)
}

export function forgetUpload(key: string): void {
  uploads = uploads.filter((entry) => entry.key !== key)
  announce()
}

async function uploadOne(assistantId: string, key: string, file: File): Promise<void> {
  try {
    const sent = await send(assistantId, file, (progress) => change(key, { progress }))
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

/** The file when its ingestion has ended. A broken stream is opened again. */
async function followIngestion(assistantId: string, ingestionId: string, onProgress: (progress: number) => void) {
  for (let failures = 0; ; failures += 1) {
    let last: Schemas['Ingestion'] | undefined
    try {
      const response = await fetch(
        `/assistants/${encodeURIComponent(assistantId)}/ingestions/${encodeURIComponent(ingestionId)}/events`,
        { headers: { authorization: `Bearer ${tokenOf() ?? ''}` } },
      )
      if (!response.ok || response.body === null) throw new ApiError(response.status, undefined)
      for await (const { event, data } of readEvents(response.body)) {
        if (event !== 'progress') continue
        last = JSON.parse(data) as Schemas['Ingestion']
        onProgress(last.progress)
      }
    } catch (error) {
      if (failures > 20 || (error instanceof ApiError && error.status < 500)) throw error
    }
    if (last?.status === 'done') return last.files[0]
    await new Promise((resolve) => {
      setTimeout(resolve, 1000)
    })
  }
}

function change(key: string, part: Partial<Upload>): void {
  uploads = uploads.map((entry) => (entry.key === key ? { ...entry, ...part } : entry))
  announce()
}

function announce(): void {
  for (const listener of listeners) listener()
}
