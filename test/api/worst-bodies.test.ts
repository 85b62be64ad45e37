// Before a change: docs/traps.md, What else changes with a change.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { unprocessed } from '../../domain/records/file.ts'
import {
  type Operation,
  type Side,
  billingKeys,
  createSide,
  fill,
  idsOn,
  operationsOf,
} from '../security/cross-user-requests.ts'
import type { Ids } from '../security/cross-user-table.ts'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, importInto, lines, member, whole } from '../support/archives.ts'
import { startClientThread } from '../support/client-thread.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { slowness } from '../support/slowness.ts'
import { insertUser } from '../support/users.ts'
import { watchLoop } from '../support/watch-loop.ts'
import { membersOf, worstValue } from '../support/worst-bodies.ts'

/** Processor time for which the event loop of API or worker may stand, on the machine of `slowness`. */
const mostMs = 250
const megabyte = 1024 * 1024
/** Members that can make a body no longer than this are left out: short ones that are dear are found by hand. */
const shortBody = 2000
/** What a body may have at most, by the kind of its operation: the largest that is not refused is sent. */
const sizes = [15.5, 3.9, 1.9, 0.9, 0.2, 0.05, 0.01].map((megabytes) => megabytes * megabyte)

describe('the worst admitted body of each operation', () => {
  let service: ModelService
  let side: Side
  let client: ReturnType<typeof startClientThread>
  let loop: ReturnType<typeof watchLoop>
  const slow: string[] = []

  beforeAll(async () => {
    service = await startModelService({
      respond: () => ({ text: 'Hi' }),
      env: { OUTBOUND_ALLOW: '127.0.0.1', CRAWL_PAUSE_MS: '0', EMBEDDING_DIMENSIONS: '256', ...billingKeys },
    })
    side = await createSide(service, 'mine')
    client = startClientThread()
    loop = watchLoop()
  })
  afterAll(async () => {
    loop.stop()
    await client.close()
    await service.close()
  })

  async function send(name: string, method: string, path: string, token: string, body: unknown) {
    loop.take()
    const answer = await client.send(
      {
        url: `${service.url}${path}`,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      },
      20_000,
    )
    note(name, answer.status, loop.take())
    return answer
  }

  function note(name: string, status: number, took: number) {
    if (took > mostMs && took > mostMs * slowness()) slow.push(`${name}: ${Math.round(took)} ms (${status})`)
  }

  it('as its schema bounds it', async () => {
    const document = (await apiClient(service.url).call('GET', '/openapi.json')).body
    // Later ones change the assistant that those of the public need.
    const operations = (await operationsOf(service)).toSorted((a, b) => Number(b.isPublic) - Number(a.isPublic))
    const admitted = new Set<string>()
    let variant = 0
    for (const operation of operations) {
      const { method, path, name, isPublic } = operation
      const content = document.paths[path][method.toLowerCase()].requestBody?.content?.['application/json']
      if (content === undefined || endsTheTest.includes(name)) continue
      const ids = ownIds(operation, side)
      const token = isPublic ? side.publicToken : side.token
      const known = { ...ids, thread_id: isPublic ? ids.thread_id : ids.tid }
      const base = baseOf(operation, ids)
      // Bodies that are too large for the operation are refused before they are read, whatever their members.
      let tooLarge = Infinity
      for (const [member, schema] of membersOf(content.schema, document)) {
        variant++
        let last = 0
        for (const bytes of sizes) {
          if (bytes >= tooLarge) continue
          const value = worstValue(schema, member, bytes, { document, variant, known })
          const body = JSON.stringify({ ...base, [member]: value })
          if (body.length === last || body.length < shortBody) continue
          last = body.length
          const answer = await send(`${name} ${member} (${bytes} bytes)`, method, fill(path, ids), token, body)
          if (answer.status < 300) {
            admitted.add(name)
            break
          }
          if (answer.text.includes('The body is too large.')) tooLarge = bytes
          // A smaller one would be refused as well.
          if (!/too (large|long|many)|larger than|more than|longer than|holds/.test(answer.text)) break
        }
      }
    }
    expect(slow).toEqual([])
    // Others need the secret of a mail or a provider, or are small.
    expect(admitted.size).toBeGreaterThan(30)
  }, 600_000)

  /** Bodies that are small or admitted, and were dear: each was found by hand. */
  it('as somebody would make it who knows the code', async () => {
    const user = await insertUser(service)
    const { call, token } = user
    const wrong: string[] = []
    const sent = async (name: string, method: string, path: string, body: unknown, expected = 200) => {
      const answer = await send(name, method, path, token, body)
      if (answer.status !== expected) wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
    }
    const ended = async (what: string) => {
      await eventually('the end of the runs', async () => {
        const open = { user_id: user.userId, status: { $in: ['pending', 'running'] as const } }
        return (await service.collections.runs.countDocuments(open)) === 0
      })
      note(`${what} in the worker`, 0, loop.take())
    }

    // Words of messages, their search and their archive.
    const { body: thread } = await call('POST', '/threads/', { name: 'T' })
    const contents = [
      '\ufdfa'.repeat(600_000),
      `a${'\u0300\u0316'.repeat(300_000)}`,
      '\ufdfa '.repeat(300_000),
      '1,'.repeat(900_000),
      '東'.repeat(600_000),
      "\u00e9'".repeat(400_000),
      'b\n'.repeat(700_000),
      `${'b c '.repeat(24_000)}zebra`,
    ]
    for (const content of contents)
      await sent('message', 'POST', `/threads/${thread.thread_id}/state`, { values: [{ type: 'human', content }] })
    const many = Array.from({ length: 1000 }, () => ({ type: 'human', content: '\ufdfa b '.repeat(300) }))
    await sent('a thousand messages', 'POST', `/threads/${thread.thread_id}/state`, { values: many })
    for (const [index, content] of contents.entries()) {
      const { body } = await call('POST', '/threads/', { name: `T${index}` })
      await call('POST', `/threads/${body.thread_id}/state`, {
        values: [{ type: 'human', content: `zebra ${content}` }],
      })
    }
    await sent('search', 'GET', `/search/messages?q=${encodeURIComponent('zebra \ufdfa')}`, undefined)
    await sent('search', 'GET', '/search/messages?q=zebra%20unheard', undefined)
    await sent('state', 'GET', `/threads/${thread.thread_id}/state`, undefined)
    const archive = await archiveOf(service, user)
    const other = await insertUser(service)
    loop.take()
    await importInto(service, other, archive)
    note('import', 200, loop.take())
    const naming = archiveOfNames()
    const third = await insertUser(service)
    loop.take()
    const { status, body: report } = await importInto(service, third, naming)
    note('import of what names others', status, loop.take())
    expect(report.imported).toMatchObject({ threads: 2, messages: 6 })

    // Schedules that are never due.
    const { body: assistant } = await call('POST', '/assistants/', { name: 'A' })
    const never = { cron: '* 2 8-14 3 0', timezone: 'America/New_York' }
    await sent('never due', 'POST', '/schedules/preview', never, 422)
    const late = { ...never, start_at: '2050-01-01T00:00:00Z' }
    await sent('never due, late', 'POST', '/schedules/preview', late, 422)
    for (let count = 0; count < 20; count++)
      await call('POST', '/schedules/', {
        assistant_id: assistant.assistant_id,
        input: [{ type: 'human', content: 'hi' }],
        cron: '* * * * *',
        start_at: '2050-01-01T00:00:00Z',
      })
    await sent('schedules', 'GET', '/schedules/?limit=100', undefined)

    // Filters of searches.
    const { body: store } = await call('POST', '/v1/vector_stores', { name: 'S' })
    await addEntries(store.id, user.userId)
    const values = Array.from({ length: 15 }, (_, index) => `${'x'.repeat(500)}${index}`)
    const leaf = { type: 'in', key: 'k15', value: values }
    const filters = {
      type: 'or',
      filters: [
        { type: 'or', filters: Array.from({ length: 49 }, () => leaf) },
        { type: 'and', filters: Array.from({ length: 48 }, () => leaf) },
      ],
    }
    const query = ['a', 'b', 'c', 'd', 'e']
    await sent('filter', 'POST', `/v1/vector_stores/${store.id}/search`, { query, filters })
    const wide = {
      type: 'or',
      filters: Array.from({ length: 50 }, () => ({
        type: 'or',
        filters: Array.from({ length: 50 }, () => ({ type: 'eq', key: 'k', value: 1 })),
      })),
    }
    await sent(
      'filter of too many comparisons',
      'POST',
      `/v1/vector_stores/${store.id}/search`,
      { query: 'a', filters: wide },
      400,
    )

    // Free-form objects that are masked, shown and compared.
    const url = `https://a.example/?${'a&'.repeat(400_000)}`
    const secrets = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`api_key_${index}`, `sk-${index}`]),
    )
    for (const config of [
      { url },
      { secrets },
      { [`${'aA'.repeat(400_000)}`]: 'x' },
      { urls: Array.from({ length: 20_000 }, () => 'https://a.example/?b') },
    ]) {
      await sent('config', 'PUT', `/assistants/${assistant.assistant_id}`, { name: 'A', config })
      await sent('config, shown', 'GET', `/runs/debug/assistant/${assistant.assistant_id}`, undefined)
      await sent('config, yaml', 'GET', `/assistants/${assistant.assistant_id}/yaml`, undefined)
    }
    const yaml = (rest: string) => ({ file: `assistant: A\nversion: 1\n${rest}` })
    for (const rest of [
      `other:\n${Array.from({ length: 4900 }, (_, index) => `  k${index}: ${'x'.repeat(100)}`).join('\n')}`,
      `system_message: "${'\\u00e9'.repeat(150_000)}"`,
      `system_message: |\n${'  a\n'.repeat(28_000)}`,
      `other: {${Array.from({ length: 1600 }, (_, index) => `k${index}: [1]`).join(', ')}}`,
    ]) {
      await sent('yaml', 'POST', '/assistants/apply', yaml(rest))
    }

    // Runs: what was said before, functions and forms of answers.
    const { assistant_id: assistantId } = assistant
    const functions = Array.from({ length: 128 }, (_, index) => ({
      type: 'function',
      name: `f${index}`,
      parameters: nested(23),
    }))
    const asked = { assistant_id: assistantId, thread_id: thread.thread_id, input: [{ type: 'human', content: 'Go' }] }
    await sent('run', 'POST', '/runs/', asked)
    await ended('run')
    await sent('run with functions', 'POST', '/runs/', { ...asked, tools: functions })
    await ended('run with functions')
    await sent('run with many messages', 'POST', '/runs/', { ...asked, input: many })
    await ended('run with many messages')
    const parts = Array.from({ length: 1000 }, () => ({ type: 'text', text: 'x'.repeat(1900) }))
    const completion = {
      model: assistantId,
      messages: Array.from({ length: 900 }, () => ({ role: 'user', content: 'b '.repeat(1000) })),
    }
    await sent('completion', 'POST', '/v1/chat/completions', completion)
    await sent('completion of parts', 'POST', '/v1/chat/completions', {
      ...completion,
      messages: [{ role: 'user', content: parts }],
    })
    await sent('response', 'POST', '/v1/responses', {
      model: assistantId,
      input: Array.from({ length: 900 }, () => ({ role: 'user', content: 'b '.repeat(8000) })),
    })
    await ended('completions')

    expect(wrong).toEqual([])
    expect(slow).toEqual([])
  }, 600_000)

  async function addEntries(storeId: string, userId: string): Promise<void> {
    const attributes = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, 'x'.repeat(512)]))
    const now = new Date()
    const records = Array.from({ length: 2000 }, (_, index) => ({
      _id: newId(),
      source_id: newId(),
      assistant_id: storeId,
      user_id: userId,
      ingestion_id: 'none',
      order: index,
      name: 'a.txt',
      content_type: 'text/plain',
      size: 1,
      sha256: 'none',
      blob_id: newId(),
      status: 'ready' as const,
      ...unprocessed,
      attributes_json: JSON.stringify(attributes),
      created_at: now,
      updated_at: now,
    }))
    await service.collections.files.insertMany(records)
  }
})

/** An archive whose entries name attachments, runs and items as often as they can, or have long calls. */
function archiveOfNames(): Uint8Array<ArrayBuffer> {
  const created_at = '2026-01-01T00:00:00.000Z'
  const [project_id, run_id] = [newId(), newId()]
  const project = { project_id, name: 'P', description: '', created_at }
  const thread = { project_id, name: 'T', public: false, metadata: {}, created_at, updated_at: created_at }
  const [plain, items] = [newId(), newId()]
  const image = () => ({ type: 'image', attachment_id: newId(), content_type: 'image/png', size: 1 })
  const list = <T>(length: number, make: () => T) => Array.from({ length }, make)
  const message = (type: string, data: object) => ({ type, data: { id: `${newId()}-1`, content: 'b', ...data } })
  const asking = (args: object) => ({ id: 'c', name: 'ask', type: 'tool_call', run_id, thread_id: newId(), args })
  const numbers = Array.from({ length: 190_000 }, (_, index) => index + 0.5)
  const text = 'b '.repeat(500_000)
  const entries = [
    list(9000, () => message('HumanMessage', { after: `${newId()}-2`, parts: list(6, image) })),
    list(9000, () => message('AIMessage', { tool_calls: list(4, () => asking({})) })),
    list(4, () => message('AIMessage', { tool_calls: [asking({ numbers })] })),
    list(7, () => message('HumanMessage', { content: text, parts: [{ type: 'text', text }, image()] })),
  ]
  const log = (thread_id: string, some: object[][]) =>
    some.map((messages, index) => ({ thread_id, seq: index + 1, source: 'update', messages, created_at }))
  const inOwnMembers = [...log(plain, entries), ...log(items, entries.slice(0, 2))].map((entry, index) =>
    member(`messages-0000${index}.jsonl`, lines(entry)),
  )
  return new Uint8Array(
    whole(
      member('projects-00001.jsonl', lines(project)),
      member(
        'threads-00001.jsonl',
        lines({ ...thread, thread_id: plain }, { ...thread, thread_id: items, kind: 'conversation' }),
      ),
      ...inOwnMembers,
    ),
  )
}

/** A schema of so many levels. */
function nested(levels: number): object {
  return levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } }
}

/** They end the account, or what authorises the requests after them. */
const endsTheTest = ['auth.deleteUser', 'assistants.move']

/** On `/v1`, threads are those of the project. */
function ownIds(operation: Operation, side: Side): Ids {
  const ids = idsOn(operation, side)
  return operation.path.startsWith('/v1/') ? { ...ids, thread_id: ids.tid, message_id: `message-${ids.tid}` } : ids
}

/** A request that is valid otherwise. */
function baseOf({ name, expectation }: Operation, ids: Ids): object {
  const own = bases[name]?.(ids)
  if (own !== undefined) return own
  if (expectation === undefined || !('foreign' in expectation || 'foreignBody' in expectation)) return {}
  const body = ('body' in expectation ? expectation.body : undefined) ?? expectation.foreignBody?.[0]?.body
  return Object(body?.(ids, ids) ?? {})
}

const said = [{ type: 'human', content: 'hi' }]
const bases: Record<string, (ids: Ids) => object> = {
  'assistants.create': () => ({ name: 'mine' }),
  'projects.create': () => ({ name: `mine-${Math.random()}` }),
  'prompts.create': () => ({ name: 'mine', text: 'mine' }),
  'schedules.create': ({ aid }) => ({ assistant_id: aid, input: said, cron: '0 7 * * *' }),
  'schedules.preview': () => ({ cron: '0 7 * * *' }),
  'v1.embeddings.create': () => ({ input: 'a', model: 'text-embedding-3-small' }),
  'v1.audio.speech.create': () => ({ input: 'a', model: 'tts-1' }),
}
