import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoModelEnv } from '../../local/demo-model-settings.ts'
import { createDemoModel } from '../../local/demo-model/server.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { readRun } from '../runs/support.ts'
import type { ApiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { pagedPdf } from '../support/paged-pdf.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

/** One topic a sentence, so that a question finds it; a page has a few, so that a passage goes over several pages. */
const topics = [
  ['probation', 'contracts', 'salaries', 'overtime'],
  ['bicycles', 'parking', 'canteen'],
  ['holidays', 'parental', 'weddings', 'funerals', 'moving', 'military', 'sabbatical'],
  ['sickness', 'doctors'],
  ['travel', 'hotels', 'trains', 'airplanes', 'receipts', 'advances'],
  ['laptops', 'telephones', 'passwords'],
]
const pageOfTopic = new Map(topics.flatMap((page, index) => page.map((topic) => [topic, index + 1] as const)))
const allTopics = [...pageOfTopic.keys()]
const lineOf = (topic: string) => [
  `The rules about ${topic} are explained by the officer of ${topic} in`,
  `the harbour building, who has to be asked about ${topic} in writing.`,
]
// The last sentence of a page goes on on the next one.
const lines = topics.map((page, index) => [
  ...(index === 0 ? [] : [`sentence about ${topics[index]?.[0]} that began on the page before.`]),
  ...page.flatMap(lineOf),
  ...(index === topics.length - 1 ? [] : [`After ${page.at(-1)} comes one long and very winding`]),
])
const handbook = { name: 'handbook.pdf', content: new Uint8Array(pagedPdf(lines)) }

interface Pages {
  text: string
  page?: number
  last_page?: number
  pages?: { page: number; sentences: number[] }[]
}

/** The page of each topic that a passage explains. */
function topicsIn({ text, pages = [] }: Pages): [topic: string, page: number | undefined][] {
  const begins = pages.flatMap(({ page, sentences }) => sentences.map((begin) => ({ page, begin })))
  return [...text.matchAll(/The rules about (\w+)/g)].map(({ index, 1: topic = '' }) => {
    return [topic, begins.find(({ begin }) => begin === index)?.page]
  })
}

/** Each quotation of a topic in the demo model's answer, with the page that it names. */
const quotedIn = (answer: string) =>
  [...answer.matchAll(/“([^”]*)” \(handbook\.pdf, page (\d+)\)/g)].flatMap(({ 1: quoted = '', 2: page }) => {
    const topic = /(?:The rules|^sentence) about (\w+)/.exec(quoted)?.[1]
    return topic === undefined ? [] : [{ topic, page: Number(page) }]
  })

const question = (topic: string) => `Who explains the rules about ${topic} as the officer of ${topic}?`

describe('the page of a cited sentence', () => {
  const demo = createDemoModel({ tokenDelayMs: 0 })
  let service: TestService
  let assistant: Awaited<ReturnType<typeof newPublicAssistant>>
  let owner: ApiClient
  let fileId: string

  beforeAll(async () => {
    demo.listen(0, '127.0.0.1')
    await once(demo, 'listening')
    const { port } = demo.address() as AddressInfo
    service = await startService({ env: demoModelEnv(port) })
    assistant = await newPublicAssistant(service)
    owner = assistant.owner
    fileId = await upload(owner, assistant.id)
  })
  afterAll(async () => {
    await service.close()
    demo.close()
    demo.closeAllConnections()
  })

  async function upload(user: ApiClient, assistantId: string): Promise<string> {
    const form = new FormData()
    form.append('files', new Blob([handbook.content]), handbook.name)
    const { files } = await user.post(`/assistants/${assistantId}/files`, form)
    expect(files).toMatchObject([{ metadata: { status: 'ready' } }])
    return String(files[0].id)
  }

  async function ask(user: ApiClient, assistantId: string, content: string) {
    const { thread_id } = await user.post('/threads/', {})
    const body = { thread_id, assistant_id: assistantId, input: [{ type: 'human', content }] }
    const run = await readRun(await user.fetch('POST', '/runs/stream', body))
    expect(run.end).toBe('end')
    const result = run.messages.find(({ type }) => type === 'ToolMessage')
    return {
      threadId: String(thread_id),
      passages: JSON.parse(result.data.content).passages as (Pages & { file_id: string })[],
      answer: String(run.messages.at(-1).data.content),
    }
  }

  it('is known for every sentence of every passage, and passages know their range', async () => {
    const { chunks } = await owner.get(`/assistants/${assistant.id}/files/${fileId}/chunks?limit=200`)
    const seen = (chunks as Pages[]).flatMap(topicsIn)
    expect(new Set(seen.map(([topic]) => topic))).toEqual(new Set(allTopics))
    for (const [topic, page] of seen) expect([topic, page]).toEqual([topic, pageOfTopic.get(topic)])
    const ranges = (chunks as Pages[]).map(({ page, last_page: last }) => [page, last])
    expect(ranges.some(([page, last]) => page !== last)).toBe(true)
    expect(ranges).toEqual((chunks as Pages[]).map(({ pages = [] }) => [pages.at(0)?.page, pages.at(-1)?.page]))

    for (const topic of allTopics) {
      const { passages } = await owner.post(`/assistants/${assistant.id}/files/search`, { query: question(topic) })
      expect(new Map((passages as Pages[]).flatMap(topicsIn)).get(topic)).toBe(pageOfTopic.get(topic))
    }
  })

  it('is named by answers, and events of the run carry it', async () => {
    for (const topic of allTopics) {
      const { passages, answer } = await ask(owner, assistant.id, question(topic))
      expect(new Map(passages.flatMap(topicsIn)).get(topic)).toBe(pageOfTopic.get(topic))
      const quoted = quotedIn(answer)
      expect(quoted.map((one) => one.topic)).toContain(topic)
      for (const one of quoted) expect(one).toEqual({ topic: one.topic, page: pageOfTopic.get(one.topic) })
    }
  })

  it('is told to clients of the assistants API, in messages and in streams', async () => {
    const client = new OpenAI({ baseURL: `${service.url}/public/compat/v1`, apiKey: assistant.token, maxRetries: 0 })
    const thread = await client.beta.threads.create()
    for (const topic of ['sickness', 'airplanes']) {
      await client.beta.threads.messages.create(thread.id, { role: 'user', content: question(topic) })
      const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
      const streamed = (await stream.finalMessages()).at(-1)
      const [listed] = (await client.beta.threads.messages.list(thread.id)).data
      const single = await client.beta.threads.messages.retrieve(listed?.id ?? '', { thread_id: thread.id })
      expect(single.content).toEqual(listed?.content)
      expect(streamed?.content).toEqual(listed?.content)
      const [content] = single.content
      if (content?.type !== 'text') throw new Error('the answer is no text')
      const { value, annotations } = content.text
      const cited = annotations.map((one) => {
        expect(value.slice(one.start_index, one.end_index)).toBe(one.text)
        return one
      })
      const quoted = [...value.matchAll(/\(handbook\.pdf, page (\d+)\)/g)]
      expect(quoted.length).toBeGreaterThan(0)
      expect(cited).toEqual(
        quoted.map(({ 0: text, 1: page, index }) => ({
          type: 'file_citation',
          text,
          start_index: index,
          end_index: index + text.length,
          file_citation: { file_id: fileId, page: Number(page) },
        })),
      )
      expect(quotedIn(value)).toContainEqual({ topic, page: pageOfTopic.get(topic) })
    }
  })

  it('is in the archive, and in what another account imports', async () => {
    const user = await insertUser(service)
    const { assistant_id: id } = await user.post('/assistants/', { name: 'Librarian' })
    await upload(user, id)
    const { threadId, passages } = await ask(user, id, question('sickness'))
    const { url } = await user.post('/user/export')
    const download = await fetch(`${service.url}${new URL(url).pathname}${new URL(url).search}`)
    const archive = Buffer.from(await download.arrayBuffer())
    expect(gunzipSync(archive).toString('latin1')).toContain('sentences')

    const other = await insertUser(service)
    const imported = await fetch(`${service.url}/user/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.token}`, 'content-type': 'application/octet-stream' },
      body: archive,
    })
    expect(await imported.json()).toMatchObject({ imported: { threads: 1, files: 1 } })
    const own = { user_id: other.userId }
    const run = await service.collections.runs.findOne(own).lean()
    expect(run?.thread_id).not.toBe(threadId)
    const { values } = await other.get(`/threads/${run?.thread_id}/state`)
    const result = values.messages.find(({ type }: any) => type === 'ToolMessage')
    expect(JSON.parse(result.data.content).passages).toEqual(passages)

    const librarian = String(run?.assistant_id)
    const isReady = async () =>
      (await other.get(`/assistants/${librarian}/files`)).files[0]?.metadata.status === 'ready'
    await eventually('the imported file is ready', isReady)
    const again = await ask(other, librarian, question('sickness'))
    expect(quotedIn(again.answer)).toContainEqual({ topic: 'sickness', page: 4 })
  })
})
