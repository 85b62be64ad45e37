import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { refusalOf, unwrap } from '../src/create-client.ts'
import type { Schemas } from '../src/create-client.ts'
import type { paths } from '../src/schema.d.ts'
import { type Command, assistantOption, jsonOption, textValue } from './command.ts'
import { Failure, wrongUse } from './failure.ts'
import { type Service, findAssistant } from './service.ts'
import { out, plainLine, progress } from './terminal.ts'

type Uploaded = paths['/assistants/{aid}/files']['post']['responses'][200]['content']['application/json']

const maxFiles = 10_000
const pollMs = 500

export const pushFilesCommand: Command = {
  name: 'files push',
  summary: 'Upload files, and all files of folders, and wait until the assistant has read them',
  operands: 'PATH…',
  takes: [1, maxFiles],
  options: { ...assistantOption, ...jsonOption },
  async run({ operands, values, open }) {
    const service = await open()
    const files = await filesIn(operands)
    const assistant = await findAssistant(service, textValue(values['assistant']))
    await pushFiles(service, assistant.assistant_id, files, values['json'] === true)
  },
}

/** Uploads one file after the other. Throws at the end if one of them failed. */
export async function pushFiles(service: Service, assistantId: string, files: string[], asJson = false): Promise<void> {
  const results: { name: string; status: string; error?: string }[] = []
  for (const file of files) {
    const ended = await pushOne(service, assistantId, file)
    progress('')
    for (const { name, metadata } of ended) {
      const { status, error } = metadata
      results.push({ name, status, ...(error !== undefined && { error }) })
      if (!asJson) out(plainLine(`${name}: ${status}${error === undefined ? '' : ` (${error})`}`) + '\n')
    }
  }
  if (asJson) out(`${JSON.stringify(results)}\n`)
  const failed = results.filter(({ status }) => status !== 'ready').length
  if (failed > 0) throw new Failure(`${failed} of ${results.length} files could not be read.`)
}

async function pushOne(service: Service, assistantId: string, file: string): Promise<Schemas['EmbeddedFile'][]> {
  const uploaded = await upload(service, assistantId, file)
  const where = { path: { aid: assistantId, ingestion_id: uploaded.ingestion_id } }
  for (;;) {
    const view = await unwrap(service.api.GET('/assistants/{aid}/ingestions/{ingestion_id}', { params: where }))
    if (view.status === 'done') return view.files
    progress(`${path.basename(file)}: reading, ${Math.round(view.progress * 100)} %`)
    await setTimeout(pollMs)
  }
}

/** The file is sent as it is read: it may be larger than the memory. */
async function upload({ url, token }: Service, assistantId: string, file: string): Promise<Uploaded> {
  const name = path.basename(file)
  const { size } = await stat(file)
  const boundary = `----assistant-${randomUUID()}`
  const quoted = name.replaceAll('"', '%22').replaceAll(/[\r\n]/g, ' ')
  async function* body() {
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="${quoted}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    )
    let sent = 0
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      sent += chunk.length
      yield chunk
      progress(`${name}: sending, ${Math.round((sent / Math.max(1, size)) * 100)} %`)
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const response = await fetch(`${url}/assistants/${encodeURIComponent(assistantId)}/files?wait=false`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(body()),
    duplex: 'half',
  })
  if (!response.ok) throw await refusalOf(response)
  return (await response.json()) as Uploaded
}

async function filesIn(paths: string[]): Promise<string[]> {
  const files: string[] = []
  for (const given of paths) {
    const facts = await stat(given).catch(() => {
      throw wrongUse(`There is no file "${given}".`)
    })
    if (!facts.isDirectory()) files.push(given)
    else {
      const entries = await readdir(given, { recursive: true, withFileTypes: true })
      files.push(...entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name)))
    }
    if (files.length > maxFiles) throw wrongUse(`These are more than ${maxFiles} files.`)
  }
  if (files.length === 0) throw wrongUse('There are no files in these folders.')
  return files.toSorted()
}
