import { createHash } from 'node:crypto'
import type { mongo } from 'mongoose'
import { expect } from 'vitest'
import { openRunStatuses } from '../../../domain/records/run.ts'
import { archiveOwnerOf } from '../../../services/threads/archived/open.ts'
import { type ApiClient, apiClient } from '../../support/api-client.ts'
import { archive, archiving, placesOf, settled } from '../../support/archived-threads.ts'
import { eventually } from '../../support/eventually.ts'
import { pngPart } from '../../support/png.ts'
import type { Respond } from '../../support/scripted-model.ts'
import type { RunningService } from '../../support/service.ts'
import { allEvents } from '../../support/sse.ts'
import { type TestUser, insertUser } from '../../support/users.ts'

export type World = Awaited<ReturnType<typeof makeWorld>>

/** Says of the conversation that the model was given how long it is, and a digest of it; calls a tool if it is told to. */
export const respond: Respond = ({ body: { messages } }) => {
  const last = messages.at(-1)
  const [, url] = /^look at (\S+)/.exec(String(last?.content)) ?? []
  if (last?.role === 'user' && url !== undefined)
    return {
      text: 'Looking.',
      toolCalls: [{ id: 'call_look', name: 'http_request', arguments: { method: 'GET', url } }],
    }
  const digest = createHash('sha256').update(JSON.stringify(messages)).digest('hex').slice(0, 12)
  return { text: `${messages.length} messages (${digest})` }
}

const human = (content: unknown, more: object = {}) => [{ type: 'human', content, ...more }]
const token = 'type==agent/public_token'

/** A user with a thread of each kind, whose runs have ended, and the ids of what belongs to them. */
export async function makeWorld(service: RunningService, toolUrl: string) {
  const user = await insertUser(service)
  const publicToken = `public-${user.userId}`
  const config = {
    'type==agent/access_mode': 'public_token',
    [token]: publicToken,
    'type==agent/tools': [{ type: 'http_request' }],
  }
  const { assistant_id: aid } = await user.post('/assistants/', { name: 'Helper', config })
  const own = await ownThread(user, aid, `look at ${toolUrl}`)
  const anybody = apiClient(service.url, publicToken)
  const ofCallers = await publicThread(anybody, aid)
  const ofV1 = await v1Threads(user, aid)
  await service.api.platform.core.stream.remove(
    (await service.collections.runs.find({ user_id: user.userId })).map(({ _id }) => _id),
  )
  return { user, publicToken, aid: String(aid), own, ofCallers, ofV1 }
}

/** Its run has called a tool; a question has two versions; it has a picture, an opinion, a link and a schedule. */
async function ownThread(user: TestUser, aid: string, look: string) {
  const { thread_id: tid } = await user.post('/threads/', { name: 'birds', assistant_id: aid })
  const run = async (input: object[]) => {
    const { run_id: id } = await user.post('/runs/', { thread_id: tid, assistant_id: aid, input })
    await allEvents(await user.fetch('GET', `/runs/${id}/stream`))
    return String(id)
  }
  const runId = await run(human(look))
  const state = async () => (await user.get(`/threads/${tid}/state`)).values.messages
  const [{ data: question }, ...answers] = await state()
  const pictured = [{ type: 'text', text: 'This bird?' }, pngPart]
  await run(human(pictured))
  await user.post(`/threads/${tid}/state`, { values: human('It was an albatross.') })
  await run(human('What is a bittern?', { after: answers.at(-1).data.id }))
  const { messages } = (await user.get(`/threads/${tid}/state?versions=all`)).values
  const picture = messages.flatMap(({ data }: any) => data.parts ?? []).find(({ attachment_id: id }: any) => id)
  const { token: shareToken } = await user.post(`/threads/${tid}/share`)
  await user.post('/runs/feedback', { run_id: runId, key: 'helpful', score: 1, comment: 'Good' })
  const schedule = { assistant_id: aid, thread_id: tid, input: human('What is a cormorant?'), cron: '0 0 1 1 *' }
  const { schedule_id: scheduleId } = await user.post('/schedules/', schedule)
  const steps = await user.get(`/v1/threads/${tid}/runs/${runId}/steps`)
  return {
    tid: String(tid),
    thread_id: String(tid),
    run_id: runId,
    message_id: String(question.id),
    answer_id: String(answers.at(-1).data.id),
    step_id: String(steps.data[0].id),
    attachment_id: String(picture.attachment_id),
    share_token: String(shareToken),
    schedule_id: String(scheduleId),
  }
}

async function publicThread(anybody: ApiClient, aid: string) {
  const base = '/public/compat/v1/threads'
  const { id } = await anybody.post(base, { messages: [{ role: 'user', content: 'What is a dunlin?' }] })
  const run = await anybody.post(`${base}/${id}/runs`, { assistant_id: aid })
  await eventually(
    'the run of the public thread has ended',
    async () => (await anybody.get(`${base}/${id}/runs/${run.id}`)).status === 'completed',
  )
  const { data: messages } = await anybody.get(`${base}/${id}/messages`)
  const { data: steps } = await anybody.get(`${base}/${id}/runs/${run.id}/steps`)
  return {
    thread_id: String(id),
    run_id: String(run.id),
    message_id: String(messages[0].id),
    step_id: String(steps[0].id),
  }
}

/** A conversation with a response, a chain of two responses, and a stored completion. */
async function v1Threads(user: TestUser, model: string) {
  const items = [{ role: 'user', content: 'What is an egret?' }]
  const { id: conversation } = await user.post('/v1/conversations', { items })
  await user.post('/v1/responses', { model, input: 'And a finch?', conversation })
  const { data } = await user.get(`/v1/conversations/${conversation}/items?order=asc`)
  const first = await user.post('/v1/responses', { model, input: 'What is a gull?' })
  const second = await user.post('/v1/responses', { model, input: 'And a heron?', previous_response_id: first.id })
  const messages = [{ role: 'user', content: 'What is an ibis?' }]
  const completion = await user.post('/v1/chat/completions', { model, messages, store: true })
  return {
    conversation_id: String(conversation),
    item_id: String(data[0].id),
    answer_item_id: String(data[1].id),
    first_response_id: String(first.id),
    response_id: String(second.id),
    completion_id: String(completion.id),
  }
}

/** Collections whose records have a `thread_id`, and those whose records have a `user_id`. */
const ofThreads = ['checkpoints', 'runs', 'tool_calls', 'feedback', 'attachments', 'shares']
const ofUsers = ['threads', 'schedules', 'schedule_runs']

type Saved = Record<string, mongo.Document[]>

/** The records of a world, which can be put back as they were, however they were changed. */
export function recordsOf(service: RunningService, { user: { userId } }: Pick<World, 'user'>) {
  const { db } = service.api.infra.database.connection
  const all = (name: string) => {
    if (db === undefined) throw new Error('the database is not connected')
    return db.collection<mongo.Document>(name)
  }
  const threadIds = async () => (await all('threads').find({ user_id: userId }).toArray()).map(({ _id }) => String(_id))

  async function filters(more: string[] = []): Promise<Record<string, object>> {
    const ids = [...new Set([...(await threadIds()), ...more])]
    const blobs = await all('blobs.files')
      .find({ 'metadata.assistant_id': { $in: ids.map(archiveOwnerOf) } })
      .toArray()
    const blobIds = blobs.map(({ _id }) => _id)
    return {
      ...Object.fromEntries(ofThreads.map((name) => [name, { thread_id: { $in: ids } }])),
      'blobs.chunks': { files_id: { $in: blobIds } },
      'blobs.files': { _id: { $in: blobIds } },
      ...Object.fromEntries(ofUsers.map((name) => [name, { user_id: userId }])),
      users: { _id: userId },
    }
  }

  async function save(): Promise<Saved> {
    const saved: Saved = {}
    for (const [name, filter] of Object.entries(await filters()))
      saved[name] = await all(name).find(filter).sort({ _id: 1 }).toArray()
    return saved
  }

  return {
    save,

    async putBack(saved: Saved): Promise<void> {
      const known = saved['threads']?.map(({ _id }) => String(_id)) ?? []
      for (const [name, filter] of Object.entries(await filters(known))) {
        await all(name).deleteMany(filter)
        const documents = saved[name] ?? []
        if (documents.length > 0) await all(name).insertMany(documents)
      }
      // No process knows the conversations from before.
      for (const { core } of [service.api.platform, ...(service.worker ? [service.worker.platform] : [])])
        core.conversations.forget(known)
    },

    async archiveAll(): Promise<void> {
      for (const id of await threadIds()) {
        await archive(service, id)
        expect(await placesOf(service, id)).toMatchObject({ objects: 1, isNamed: true })
      }
    },

    /** Brings all threads back, and says which were archived until then. */
    async openAll(): Promise<string[]> {
      const archived = await all('threads')
        .find({ user_id: userId, archive: { $exists: true } })
        .toArray()
      for (const { _id } of archived) await archiving(service).threads.bringBack(String(_id))
      return archived.map(({ _id }) => String(_id))
    },

    /** When all runs have ended, and the threads of responses that are not to be stored are gone. */
    settled: async () => {
      await eventually('nothing of the user is under way', async () => {
        const runs = await all('runs').countDocuments({ user_id: userId, status: { $in: [...openRunStatuses] } })
        return runs + (await all('threads').countDocuments({ user_id: userId, expires_at: { $exists: true } })) === 0
      })
      await settled(service)
    },

    count: (name: string) => all(name).countDocuments({ user_id: userId }),
  }
}

/** What differs between any two times that the same is done. */
const volatile = new Set([
  'opened_at',
  'archive',
  'check_at',
  'handed_over',
  'requeued',
  'fence',
  'step_fence',
  'last_active_at',
  'first_token_ms',
])

/** Records as text, without what differs each time. */
export function asText(saved: Saved, known: string): string {
  const texts = Object.entries(saved)
    // The end of a schedule's run is noted a while after that of the run.
    .filter(([name]) => !name.startsWith('blobs.') && name !== 'schedule_runs')
    .map(([name, documents]) =>
      [
        name,
        documents.map((document) =>
          JSON.stringify(
            Object.fromEntries(Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1))),
            (key, value: unknown) => (volatile.has(key) ? undefined : value),
          ),
        ),
      ]
        .flat()
        .join('\n'),
    )
  return masked(texts.join('\n'), known)
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A text whose new ids are numbered, and whose times and tokens are hidden. `known`: what has known ids. */
export function masked(text: string, known: string): string {
  const numbers = new Map<string, number>()
  return text
    .replaceAll(uuid, (id) => {
      if (known.includes(id)) return id
      if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
      return `new-${numbers.get(id)}`
    })
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'TIME')
    .replaceAll(/\b1[789]\d{8}(?:\d{3}(?:\.\d+|-\d+)?)?\b/g, 'TIME')
    .replaceAll(/"(first_token_ms|waited_ms|cost)":[\d.]+/g, '"$1":0')
    .replaceAll(/[\w-]{43}(?=")|\beyJ[\w-]+/g, 'TOKEN')
}
