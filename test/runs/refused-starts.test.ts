import { toFile } from 'openai'
import { expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import type { TestUser } from '../support/users.ts'
import { refusalOf, v1Client } from '../v1/v1-client.ts'

const service = useSharedService()

/** All that an account has which a run can leave behind. */
async function kept({ userId, projectId }: TestUser) {
  const { threads, runs, assistants, files, attachments, users, budgets } = service.collections
  const own = { user_id: userId }
  const [threadCount, runCount, storeCount, fileCount, partCount, user, budget] = await Promise.all([
    threads.countDocuments(own),
    runs.countDocuments(own),
    assistants.countDocuments({ ...own, kind: 'vector_store', deleting: { $ne: true } }),
    files.countDocuments(own),
    attachments.countDocuments(own),
    users.findById(userId).lean(),
    budgets.findById(`project/${projectId}`).lean(),
  ])
  return {
    threadCount,
    runCount,
    storeCount,
    fileCount,
    partCount,
    places: user?.thread_counter,
    counted: budget?.runs ?? 0,
  }
}

/** An account with an assistant and a file, and every way to start a run that makes a thread. */
async function setUp() {
  const { client, owner } = await v1Client(service)
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'Helper' })
  const { id: fileId } = await client.files.create({
    file: await toFile(Buffer.from('The office closes at five.'), 'hours.txt'),
    purpose: 'assistants',
  })
  const attachments = [{ file_id: fileId, tools: [{ type: 'file_search' as const }] }]
  const thread = await client.beta.threads.create()
  const messages = [{ role: 'user' as const, content: 'When?', attachments }]
  const byMcp = async () => {
    const response = await fetch(`${service.url}/mcp/${assistantId}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${client.apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'ask', arguments: { question: 'When?' } },
      }),
    })
    await response.text()
    return response.status
  }
  const statusOf = async (request: PromiseLike<unknown>) => (await refusalOf(request)).status
  const ways = {
    'threads/runs': () =>
      statusOf(client.beta.threads.createAndRun({ assistant_id: assistantId, thread: { messages } })),
    'threads/runs with a vector store': () =>
      statusOf(
        client.beta.threads.createAndRun({
          assistant_id: assistantId,
          thread: {
            messages: [{ role: 'user', content: 'When?' }],
            tool_resources: { file_search: { vector_stores: [{ file_ids: [fileId] }] } },
          },
        }),
      ),
    'a run on a thread': () =>
      statusOf(
        client.beta.threads.runs.create(thread.id, { assistant_id: assistantId, additional_messages: messages }),
      ),
    'ask of MCP': byMcp,
  }
  return { client, owner, assistantId, thread, messages, ways }
}

it('leave nothing behind when a budget is spent', async () => {
  const { owner, assistantId, ways } = await setUp()
  await owner.put(`/projects/${owner.projectId}/budget`, { runs: 0 })
  const schedule = await owner.post('/schedules/', {
    assistant_id: assistantId,
    input: [{ type: 'human', content: 'What is new?' }],
    cron: '0 7 1 1 *',
  })
  const before = await kept(owner)
  for (const [way, start] of Object.entries(ways)) {
    expect(await start(), way).toBe(429)
    expect(await kept(owner), way).toEqual(before)
  }
  await owner.post(`/schedules/${schedule.schedule_id}/trigger`)
  const [run] = await eventually('the end of the run', async () => {
    const { runs } = await owner.get(`/schedules/${schedule.schedule_id}/runs`)
    return runs.length === 1 && runs[0].finished_at !== null && runs
  })
  expect(run).toMatchObject({ status: 'refused', error: { status_code: 429 } })
  expect(await kept(owner)).toEqual(before)
})

it('leave nothing behind when the quota of threads is used up, and count in no budget', async () => {
  const { owner, ways } = await setUp()
  await owner.put(`/projects/${owner.projectId}/budget`, { runs: 5 })
  await service.collections.users.updateOne({ _id: owner.userId }, { $set: { thread_max: 1 } })
  const before = await kept(owner)
  expect(before).toMatchObject({ places: 1, counted: 0 })
  const { 'a run on a thread': _, ...making } = ways
  for (const [way, start] of Object.entries(making)) {
    expect(await start(), way).toBe(403)
    expect(await kept(owner), way).toEqual(before)
  }
})

it('leave nothing behind while another run has the thread', async () => {
  const { client, owner, assistantId, thread, ways } = await setUp()
  const gate = Promise.withResolvers<void>()
  const { arrived } = service.model.reply({ text: ['Slow ', gate.promise, 'answer'] })
  const first = await client.beta.threads.runs.create(thread.id, {
    assistant_id: assistantId,
    additional_messages: [{ role: 'user', content: 'Hello' }],
  })
  await arrived
  const before = await kept(owner)
  expect(await ways['a run on a thread']()).toBe(400)
  expect(await kept(owner)).toEqual(before)
  gate.resolve()
  await eventually('the end of the run', async () => {
    const { status } = await client.beta.threads.runs.retrieve(first.id, { thread_id: thread.id })
    return status === 'completed'
  })
})

it('are other than runs that begin: those take a place and make what they need', async () => {
  const { client, owner, assistantId, messages } = await setUp()
  const before = await kept(owner)
  service.model.reply({ text: 'At five.' })
  const run = await client.beta.threads.createAndRun({
    assistant_id: assistantId,
    thread: { messages, metadata: { kind: newId() } },
  })
  await eventually('the end of the run', async () => {
    const { status } = await client.beta.threads.runs.retrieve(run.id, { thread_id: run.thread_id })
    return status === 'completed'
  })
  expect(await kept(owner)).toMatchObject({
    threadCount: before.threadCount + 1,
    places: (before.places ?? 0) + 1,
    storeCount: 1,
    fileCount: before.fileCount + 1,
  })
})
