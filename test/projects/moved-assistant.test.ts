import { expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { readRun } from '../runs/support.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { v1Client } from '../v1/v1-client.ts'

const service = useSharedService()

/** The receipts, the audit log and keys of requests name what was there for what was done. */
const isRecordOfDeeds = (place: string) => ['receipts', 'auditEntries', 'idempotencyKeys'].includes(place)

/** Every record of every collection that names one of these, by its collection. */
async function naming(...ids: string[]): Promise<string[]> {
  const places: string[] = []
  for (const [name, collection] of Object.entries(service.collections)) {
    const records = await (collection as any).find({}).lean()
    for (const record of records) if (ids.some((id) => JSON.stringify(record).includes(id))) places.push(name)
  }
  return places.toSorted()
}

/** An account with a second project, and an assistant that has all that can belong to one. */
async function estate() {
  const owner = await knowledgeClient(await insertUser(service))
  const id = owner.assistantId
  const token = `pub-${newId()}`
  const config = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
  await owner.put(`/assistants/${id}`, { name: 'Librarian', config })
  await owner.upload([{ name: 'hours.txt', content: 'The harbour opens at nine.' }])
  const { project_id: elsewhere } = await owner.post('/projects/', { name: 'Elsewhere' })
  await owner.post('/memory/', { text: 'Ships pay twelve marks.', assistant_id: id })
  const source = await owner.post(`/assistants/${id}/sources`, {
    type: 'page',
    url: 'http://127.0.0.1:9/',
    refresh: { interval_seconds: 86_400 },
  })
  const input = [{ type: 'human', content: 'What is new?' }]
  const schedule = await owner.post('/schedules/', { assistant_id: id, input, cron: '0 7 1 1 *' })
  const publicly = async (more: object = {}) => {
    service.model.reply({ text: 'Nothing.' })
    const body = { assistant_id: id, input, ...more }
    const answer = await apiClient(service.url, token).fetch('POST', '/public/runs/stream', body)
    const run = await readRun(answer)
    const [, metadata] = run.events
    return { ...run, threadId: String(JSON.parse(metadata?.data ?? '{}').thread_id) }
  }
  const conversation = await publicly({ user: 'ada' })
  expect(conversation.end).toBe('end')
  const trigger = async (count: number, as: Pick<ApiClient, 'get' | 'post'> = owner) => {
    service.model.reply({ text: 'Nothing is new.' })
    await as.post(`/schedules/${schedule.schedule_id}/trigger`)
    await eventually(`${count} runs of the schedule`, async () => {
      const { runs } = await as.get(`/schedules/${schedule.schedule_id}/runs`)
      return runs.length >= count && runs.every((run: any) => run.finished_at !== null)
    })
  }
  await trigger(1)
  return { owner, id, elsewhere, source, schedule, publicly, conversation, trigger }
}

it('takes along what belongs to it, and nothing of it goes with the project that it left', async () => {
  const { owner, id, elsewhere, source, schedule, publicly, conversation, trigger } = await estate()
  const { projectId: left } = owner
  await owner.put(`/assistants/${id}/project`, { project_id: elsewhere })
  const { schedules, threads, runs } = service.collections
  expect(await schedules.findById(schedule.schedule_id).lean()).toMatchObject({ project_id: elsewhere })
  expect(await threads.findById(conversation.threadId).lean()).toMatchObject({ project_id: elsewhere })
  expect(await runs.find({ thread_id: conversation.threadId }).lean()).toMatchObject([{ project_id: elsewhere }])
  // The process died before all runs had followed: the same request moves the others.
  await runs.updateMany({ thread_id: conversation.threadId }, { $set: { project_id: left } })
  expect((await owner.call('PUT', `/assistants/${id}/project`, { project_id: elsewhere })).status).toBe(200)
  expect(await runs.find({ thread_id: conversation.threadId }).lean()).toMatchObject([{ project_id: elsewhere }])

  await owner.call('DELETE', `/projects/${left}?confirm=true`)
  const receipt = () => service.collections.receipts.findOne({ subject_id: left }).lean()
  await eventually('the deletion of the project', async () => (await receipt())?.status === 'complete')
  expect((await naming(left)).filter((place) => !isRecordOfDeeds(place))).toEqual([])

  const { jwt_token: token } = await owner.get(`/projects/${elsewhere}`)
  const there = apiClient(service.url, token)
  const shown = await there.get(`/assistants/${id}`)
  expect(shown).toMatchObject({ project_id: elsewhere })
  expect((await there.get(`/assistants/${id}/files`)).files).toMatchObject([{ name: 'hours.txt' }])
  expect(await there.get(`/memory/?assistant_id=${id}`)).toMatchObject([{ text: 'Ships pay twelve marks.' }])
  expect((await there.get(`/assistants/${id}/sources`)).sources).toMatchObject([{ source_id: source.source_id }])
  expect((await there.get('/schedules/')).schedules).toMatchObject([{ schedule_id: schedule.schedule_id }])
  // Temporal still has both timetables, although it may list them under the project that is gone.
  for (const timetable of [`schedule/${schedule.schedule_id}`, `source/${source.source_id}`])
    expect((await service.temporal.schedule.getHandle(timetable).describe()).scheduleId).toBe(timetable)
  const goesOn = await publicly({ thread_id: conversation.threadId, user: 'ada' })
  expect(goesOn).toMatchObject({ status: 200, end: 'end', threadId: conversation.threadId })
  await trigger(1, there)
  const [made] = await service.collections.scheduleRuns.find({ schedule_id: schedule.schedule_id }).lean()
  expect(made).toMatchObject({ project_id: elsewhere })
  // It can move again, and goes with the project in which it is then.
  await there.call('DELETE', `/projects/${elsewhere}?confirm=true`)
  await eventually('the deletion of the other project', async () => (await naming(id)).every(isRecordOfDeeds))
})

it('stays, and names what cannot follow it', async () => {
  const { owner, id, elsewhere } = await estate()
  const { client } = await v1Client(service, owner)
  const store = await client.vectorStores.create({ name: 'Of the project' })
  const shown = await owner.get(`/assistants/${id}`)
  await owner.put(`/assistants/${id}`, {
    ...shown,
    config: { ...shown.config, 'type==agent/vector_stores': [store.id] },
  })
  const { thread_id: threadId } = await owner.post('/threads/', { name: 'Talk' })
  const bound = await owner.post('/schedules/', {
    assistant_id: id,
    thread_id: threadId,
    input: [{ type: 'human', content: 'What is new?' }],
    cron: '0 7 1 1 *',
  })
  const refused = await owner.call('PUT', `/assistants/${id}/project`, { project_id: elsewhere })
  expect(refused.status).toBe(409)
  for (const named of [store.id, bound.schedule_id, threadId]) expect(refused.body.detail).toContain(named)
  const { schedules, threads, assistants } = service.collections
  expect(await assistants.findById(id).lean()).toMatchObject({ project_id: owner.projectId })
  expect(await schedules.countDocuments({ assistant_id: id, project_id: elsewhere })).toBe(0)
  expect(await threads.countDocuments({ assistant_id: id, project_id: elsewhere })).toBe(0)
  // Within its project it moves nowhere, and has nothing to leave.
  expect((await owner.call('PUT', `/assistants/${id}/project`, { project_id: owner.projectId })).status).toBe(200)

  await owner.call('DELETE', `/schedules/${bound.schedule_id}`)
  await owner.put(`/assistants/${id}`, shown)
  expect((await owner.call('PUT', `/assistants/${id}/project`, { project_id: elsewhere })).status).toBe(200)
})
