import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareRedis, startRedis } from '../../local/services/redis.ts'
import { prepareTemporal, startTemporal } from '../../local/services/temporal.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { inSeconds, planner } from './support.ts'

const log = () => undefined
/** The shortest that the API takes. */
const catchupSeconds = 10

describe('a schedule whose time comes', () => {
  let dataDir: string
  let service: ModelService
  let temporal: Awaited<ReturnType<typeof startTemporal>>
  let redis: Awaited<ReturnType<typeof startRedis>>
  let again: { temporal: () => ReturnType<typeof startTemporal>; redis: () => ReturnType<typeof startRedis> }

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-schedules-'))
    const [{ value: executable }, { value: server }] = await Promise.all([prepareTemporal(log), prepareRedis(log)])
    temporal = await startTemporal({ executable, dataDir })
    redis = await startRedis({ server, dataDir })
    const portOf = (url: string) => Number(new URL(url).port)
    const ports = { temporal: portOf(`http://${temporal.address}`), redis: portOf(redis.url) }
    again = {
      temporal: () => startTemporal({ executable, dataDir, port: ports.temporal }),
      redis: () => startRedis({ server, dataDir, port: ports.redis }),
    }
    service = await startModelService({
      env: { TEMPORAL_ADDRESS: temporal.address, REDIS_URL: redis.url },
      respond: () => ({ text: 'Nothing is new.' }),
    })
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([temporal.stop(), redis.stop()])
    await rm(dataDir, { recursive: true, force: true })
  })

  const passed = (time: string, moreMs = 0) =>
    eventually('the time is over', async () => Date.now() > Date.parse(time) + moreMs, 60_000)
  /** Of the run that happened: that it did once, and that the history shows it. */
  async function expectOnce({ client, runsOf }: Awaited<ReturnType<typeof planner>>, schedule: any) {
    const runs = await runsOf(schedule.schedule_id)
    expect(runs).toMatchObject([{ due_at: schedule.at, status: 'success', triggered: false }])
    expect(await service.collections.runs.countDocuments({ user_id: client.userId })).toBe(1)
    expect((await client.get(`/threads/${runs[0].thread_id}/state`)).values.messages).toHaveLength(2)
    expect(await client.get(`/schedules/${schedule.schedule_id}`)).toMatchObject({ runs_made: 1 })
  }

  it(
    'while Temporal is killed runs once when it is back, unless it is too late then',
    { timeout: 180_000 },
    async () => {
      const [patient, strict] = [await planner(service), await planner(service)]
      const at = inSeconds(8)
      const late = await patient.create({ at })
      const missed = await strict.create({ at, catchup_seconds: catchupSeconds })
      // Before that, Temporal would not know what it missed.
      for (const { schedule_id: id } of [late, missed])
        await eventually('Temporal to have planned it', async () => {
          const { info } = await service.temporal.schedule.getHandle(`schedule/${id}`).describe()
          return info.nextActionTimes.length > 0
        })
      process.kill(temporal.pid, 'SIGKILL')
      await temporal.exited
      expect(Date.now(), 'the kill came in time').toBeLessThan(Date.parse(at))
      await passed(at, (catchupSeconds + 2) * 1000)
      temporal = await again.temporal()
      await patient.ended(late.schedule_id, 1, 60_000)
      await expectOnce(patient, late)
      const handle = service.temporal.schedule.getHandle(`schedule/${missed.schedule_id}`)
      await eventually(
        'Temporal left it out',
        async () => (await handle.describe()).info.numActionsMissedCatchupWindow === 1,
        90_000,
      )
      expect(await strict.runsOf(missed.schedule_id)).toEqual([])
    },
  )

  it('runs once when Temporal is killed while the model answers', { timeout: 180_000 }, async () => {
    const plan = await planner(service)
    const gate = Promise.withResolvers<void>()
    const asked = service.model.reply({ text: ['Nothing ', gate.promise, 'is new.'] })
    const schedule = await plan.create({ at: inSeconds(5) })
    await asked.arrived
    process.kill(temporal.pid, 'SIGKILL')
    await temporal.exited
    gate.resolve()
    temporal = await again.temporal()
    await plan.ended(schedule.schedule_id, 1, 90_000)
    await expectOnce(plan, schedule)
  })

  it('runs once while Redis is killed', { timeout: 180_000 }, async () => {
    const plan = await planner(service)
    const schedule = await plan.create({ at: inSeconds(5) })
    process.kill(redis.pid, 'SIGKILL')
    await redis.exited
    await passed(String(schedule.at))
    await eventually(
      'the run has ended without Redis',
      async () =>
        (await service.collections.runs.findOne({ user_id: plan.client.userId }).lean())?.status === 'success',
      60_000,
    )
    redis = await again.redis()
    await plan.ended(schedule.schedule_id, 1, 60_000)
    await expectOnce(plan, schedule)
  })
})
