import { expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { scheduleRunKey } from '../../domain/records/schedule.ts'
import { eventually } from '../support/eventually.ts'
import { mailTo, mailsTo } from '../support/mailbox.ts'
import { useSharedService } from '../support/shared-service.ts'
import { planner } from './support.ts'

const service = useSharedService()
const hourMs = 3_600_000

function activities() {
  const { worker } = service
  if (worker === undefined) throw new Error('there is no worker')
  return worker.platform.schedules
}

it('of a schedule are mailed once a day', async () => {
  const { client, create, ended } = await planner(service)
  await client.put(`/projects/${client.projectId}/budget`, { runs: 0 })
  const { schedule_id: id } = await create({ cron: '0 7 1 1 *', mail_result: true })
  const refuse = async (count: number) => {
    await client.post(`/schedules/${id}/trigger`)
    const runs = await ended(id, count)
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'refused'))
  }
  await refuse(1)
  expect((await mailTo(client.email)).text).toContain('used up')
  await refuse(2)
  await refuse(3)
  // An attempt that is repeated for the run of the mail sends it again.
  const [newest, , first] = await ended(id, 3)
  const { finish } = activities().activities
  const due = (run: any) => ({ scheduleId: id, dueAt: run.due_at, triggeredRunId: run.run_id })
  expect(await finish(due(first))).toEqual({ mail: true })
  expect(await finish(due(newest))).toEqual({ mail: false })
  await service.collections.schedules.updateOne(
    { _id: id },
    { $set: { 'refusal_mail.at': new Date(Date.now() - 25 * hourMs) } },
  )
  await refuse(4)
  await mailTo(client.email, 2)
  expect(await mailsTo(client.email)).toHaveLength(2)
})

it('do not include a run that waits for longer than the period: it fails, and says why', async () => {
  const { client, create, runsOf } = await planner(service, {
    'type==agent/tools': [{ type: 'http_request', ask: true }],
  })
  const { schedule_id: id } = await create({ interval_seconds: 3600 })
  const call = { name: 'http_request', arguments: { method: 'GET', url: 'http://127.0.0.1:9/' } }
  service.model.reply({ toolCalls: [{ id: newId(), ...call }] })
  const { run_id: runId, thread_id: threadId } = await client.post(`/schedules/${id}/trigger`)
  const { runs, schedules } = service.collections
  const waits = () => runs.exists({ _id: runId, status: 'interrupted' })
  await eventually('the run waits', async () => (await waits()) !== null)
  const due = { scheduleId: id, dueAt: new Date().toISOString(), triggeredRunId: runId }
  const { inspect, finish } = activities().activities
  expect(await inspect(due)).toEqual({ state: 'waits' })
  await runs.updateOne(
    { _id: runId, thread_id: threadId },
    { $set: { waiting_since: new Date(Date.now() - 2 * hourMs) } },
  )
  expect(await inspect(due)).toEqual({ state: 'ended' })
  expect(await finish(due)).toEqual({ mail: false })
  const error = { status_code: 504, type: 'expired', message: expect.stringContaining('for longer than the period') }
  expect(await runsOf(id)).toMatchObject([{ status: 'error', error }])
  expect(await schedules.findById(id).lean()).toMatchObject({ failures: 1 })
  expect(await client.get(`/threads/${threadId}`)).toMatchObject({ status: 'error' })
})

it('have nothing to do with the second attempt of a triggered run, which its record follows', async () => {
  const { client, create, runsOf, ended } = await planner(service)
  const { schedule_id: id } = await create({ cron: '0 7 1 1 *' })
  const { runs, scheduleRuns } = service.collections
  service.model.reply({ text: 'Nothing is new.' })
  const { run_id: firstId } = await client.post(`/schedules/${id}/trigger`)
  await ended(id, 1)
  // As if Temporal had not taken the first attempt, and its process had died then.
  const key = scheduleRunKey(id, firstId)
  await runs.updateOne(
    { _id: firstId },
    { $set: { status: 'error', error: { status_code: 503, message: '', type: 'unavailable', details: '' } } },
  )
  await scheduleRuns.updateOne({ _id: key }, { $unset: { outcome: 1, finished_at: 1 } })
  service.model.reply({ text: 'Nothing is new.' })
  const { schedules } = activities()
  await schedules.trigger(client.userId, id, firstId)
  const [moved] = await ended(id, 1)
  expect(moved.run_id).not.toBe(firstId)
  await scheduleRuns.updateOne({ _id: key }, { $unset: { outcome: 1, finished_at: 1 } })
  await schedules.followAgain(key)
  await ended(id, 1)
  await schedules.followAgain(key)
  expect(await runsOf(id)).toMatchObject([{ run_id: moved.run_id, status: 'success' }])
  expect(await scheduleRuns.countDocuments({ schedule_id: id })).toBe(1)
  expect(await runs.countDocuments({ schedule_id: id })).toBe(2)
})
