import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fill, operationsOf, parametersOf, send } from '../../security/cross-user-requests.ts'
import type { Ids } from '../../security/cross-user-table.ts'
import { apiClient } from '../../support/api-client.ts'
import { eventually } from '../../support/eventually.ts'
import { startHttpServer } from '../../support/http-server.ts'
import { useSharedService } from '../../support/shared-service.ts'
import { type World, asText, makeWorld, masked, recordsOf, respond } from './world.ts'

/** Parameters of paths that name a thread, or something of one. */
const ofThread = new Set([
  'tid',
  'thread_id',
  'run_id',
  'message_id',
  'step_id',
  'attachment_id',
  'share_token',
  'schedule_id',
  'response_id',
  'conversation_id',
  'item_id',
  'completion_id',
])
/** Members of bodies that do. */
const inBodies = ['thread_id', 'run_id', 'conversation', 'previous_response_id', 'item_reference']

interface Asked {
  what: string
  method: string
  path: string
  body?: unknown
  isPublic?: boolean
}

const human = (content: string, more: object = {}) => [{ type: 'human', content, ...more }]

/** Requests that name a thread elsewhere than in their path, by operation, and further ones than the table of users has. */
const further: Record<string, (world: World) => Omit<Asked, 'what'>[]> = {
  'runs.create': ({ aid, own }) => [
    { method: 'POST', path: '/runs/', body: { assistant_id: aid, thread_id: own.tid, input: human('And an owl?') } },
  ],
  'runs.stream': ({ aid, own }) =>
    [human('And a puffin?'), human('And a quail?', { after: own.answer_id })].map((input) => ({
      method: 'POST',
      path: '/runs/stream',
      body: { assistant_id: aid, thread_id: own.tid, input },
    })),
  'runs.feedback': ({ own }) => [
    { method: 'POST', path: '/runs/feedback', body: { run_id: own.run_id, key: 'helpful', score: 0 } },
  ],
  'schedules.create': ({ aid, own }) => [
    {
      method: 'POST',
      path: '/schedules/',
      body: { assistant_id: aid, thread_id: own.tid, input: human('And a rook?'), cron: '0 0 1 1 *' },
    },
  ],
  'schedules.update': ({ own }) => [
    { method: 'PATCH', path: `/schedules/${own.schedule_id}`, body: { thread_id: own.tid } },
  ],
  'v1.responses.create': ({ aid, ofV1 }) =>
    [
      { conversation: ofV1.conversation_id },
      { previous_response_id: ofV1.response_id },
      { previous_response_id: ofV1.first_response_id },
      { previous_response_id: ofV1.response_id, store: false },
      {
        input: [
          { type: 'item_reference', id: ofV1.answer_item_id },
          { role: 'user', content: 'And?' },
        ],
      },
      { input: [{ type: 'item_reference', id: ofV1.item_id }] },
    ].map((more) => ({
      method: 'POST',
      path: '/v1/responses',
      body: { model: aid, input: 'And a stork?', ...more },
    })),
  'v1.conversations.create': ({ ofV1 }) => [
    {
      method: 'POST',
      path: '/v1/conversations',
      body: { items: [{ type: 'item_reference', id: ofV1.answer_item_id }] },
    },
  ],
  'v1.conversations.items.create': ({ ofV1 }) => [
    {
      method: 'POST',
      path: `/v1/conversations/${ofV1.conversation_id}/items`,
      body: { items: [{ type: 'item_reference', id: ofV1.item_id }] },
    },
  ],
  'v1.conversations.items.delete': ({ ofV1 }) => [
    { method: 'DELETE', path: `/v1/conversations/${ofV1.conversation_id}/items/${ofV1.answer_item_id}` },
  ],
  'v1.threads.messages.delete': ({ own }) => [
    { method: 'DELETE', path: `/v1/threads/${own.tid}/messages/${own.answer_id}` },
  ],
  'v1.responses.inputItems.list': ({ ofV1 }) => [
    { method: 'GET', path: `/v1/responses/${ofV1.first_response_id}/input_items` },
  ],
  'v1.responses.read': ({ ofV1 }) => [{ method: 'GET', path: `/v1/responses/${ofV1.first_response_id}` }],
  'v1.responses.delete': ({ ofV1 }) => [{ method: 'DELETE', path: `/v1/responses/${ofV1.first_response_id}` }],
  'threads.state': ({ own }) => [{ method: 'GET', path: `/threads/${own.tid}/state?versions=all` }],
  'threads.list': () => [{ method: 'GET', path: '/threads/' }],
  'threads.findMessages': () => [{ method: 'GET', path: '/search/messages?q=bittern' }],
  'v1.chat.completions.list': () => [{ method: 'GET', path: '/v1/chat/completions' }],
  'public.runs.stream': ({ aid, ofCallers }) => [
    {
      method: 'POST',
      path: '/public/runs/stream',
      body: { assistant_id: aid, thread_id: ofCallers.thread_id, input: human('And a tern?') },
      isPublic: true,
    },
  ],
  'mcp.message': ({ aid, own }) => [
    {
      method: 'POST',
      path: `/mcp/${aid}`,
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'ask', arguments: { question: 'And a vulture?', thread_id: own.tid } },
      },
    },
  ],
}

/** Operations with such a member in their body that needs no further request. */
const without: Record<string, string> = {}

describe('operations on archived threads', () => {
  const service = useSharedService({ respond })
  let target: Awaited<ReturnType<typeof startHttpServer>>
  let world: World
  beforeAll(async () => {
    target = await startHttpServer((_request, response) => void response.end('an albatross, asleep'))
    world = await makeWorld(service, `${target.url}/nest`)
  })
  afterAll(() => target.close())

  /** Requests of every operation that takes a thread, or something of one. */
  async function requests(): Promise<Asked[]> {
    const { aid, own, ofCallers, ofV1 } = world
    const found: Asked[] = []
    for (const { method, path, name, expectation, isPublic } of await operationsOf(service)) {
      const ids = { aid, assistant_id: aid, ...ofV1, ...(isPublic ? ofCallers : own) } as unknown as Ids
      const body = expectation !== undefined && 'body' in expectation ? expectation.body?.(ids, ids) : undefined
      const label = `${method} ${path}`
      if (parametersOf(path).some((parameter) => ofThread.has(parameter)))
        found.push({ what: label, method, path: fill(path, ids), body, isPublic })
      for (const [index, more] of (further[name]?.(world) ?? []).entries())
        found.push({ what: `${label} (${index})`, ...more })
    }
    return found
  }

  it('are all asked', async () => {
    const { body: document } = await apiClient(service.url).call('GET', '/openapi.json')
    const operations = await operationsOf(service)
    const unasked = operations.filter(({ method, path, name }) => {
      const body = document.paths[path][method.toLowerCase()].requestBody
      const isNaming = inBodies.some((member) => membersOf(body, document).has(member))
      return isNaming && further[name] === undefined && without[name] === undefined
    })
    expect(unasked.map(({ name }) => name)).toEqual([])
    const names = new Set(operations.map(({ name }) => name))
    expect([...Object.keys(further), ...Object.keys(without)].filter((name) => !names.has(name))).toEqual([])
  })

  it('answer and store the same as on threads that are not archived', async () => {
    const records = recordsOf(service, world)
    const inDatabase = await records.save()
    await records.archiveAll()
    const archived = await records.save()
    const known = JSON.stringify(inDatabase)

    /** What a request answers, and what is stored afterwards. */
    async function outcomeOf({ what, method, path, body, isPublic = false }: Asked, saved: typeof archived) {
      await records.putBack(saved)
      const runs = await records.count('runs')
      const bearer = isPublic ? world.publicToken : world.user.token
      const answer = await send(service, method, path, bearer, body)
      const isTriggering = what.includes('/trigger')
      if (isTriggering)
        await eventually('the schedule has started its run', async () => (await records.count('runs')) > runs)
      await records.settled()
      const opened = await records.openAll()
      return {
        wasOpened: opened.length < (saved === archived ? (archived['threads']?.length ?? 0) : 0),
        text: `${answer.status} ${masked(isTriggering ? '' : answer.text, known)}\n${asText(await records.save(), known)}`,
      }
    }

    const asked = await requests()
    expect(asked.length).toBeGreaterThan(70)
    const different: string[] = []
    let opening = 0
    for (const request of asked) {
      const plain = await outcomeOf(request, inDatabase)
      const fromArchive = await outcomeOf(request, archived)
      if (fromArchive.wasOpened) opening += 1
      if (fromArchive.text !== plain.text)
        different.push(`${request.what}: ${differenceOf(plain.text, fromArchive.text)}`)
    }
    expect(different).toEqual([])
    expect(opening).toBeGreaterThan(30)
  }, 300_000)
})

/** Where two texts differ first. */
function differenceOf(one: string, other: string): string {
  let place = 0
  while (one[place] === other[place]) place += 1
  return [one, other].map((text) => text.slice(Math.max(place - 100, 0), place + 200)).join('\n  not: ')
}

/** Names of members, and constants of `type`, of what a schema describes. */
function membersOf(
  schema: unknown,
  document: unknown,
  found = new Set<string>(),
  seen = new Set<unknown>(),
): Set<string> {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return found
  seen.add(schema)
  for (const [name, value] of Object.entries(schema)) {
    if (name === '$ref') {
      const parts = String(value).slice(2).split('/')
      const target = parts.reduce(
        (at: unknown, part) => Object.entries(at ?? {}).find(([key]) => key === part)?.[1],
        document,
      )
      membersOf(target, document, found, seen)
    }
    if (name === 'properties') for (const member of Object.keys(value)) found.add(member)
    membersOf(value, document, found, seen)
  }
  return found
}
