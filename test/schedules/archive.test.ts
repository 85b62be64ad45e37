import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { archiveOf, importInto, lines, linesIn, member, whole } from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { png, pngPart } from '../support/png.ts'
import { insertUser } from '../support/users.ts'
import { inSeconds, planner } from './support.ts'

describe('schedules in an archive', () => {
  const service = useModelService({ respond: () => ({ text: 'Nothing is new.' }) })

  it('are imported under new ids, paused with the reason, without mails, and once', async () => {
    const { client, create, payload, ended } = await planner(service)
    const { thread_id } = await client.post('/threads/', { name: 'News' })
    const daily = await create({
      cron: '30 7 * * 1-5',
      timezone: 'Europe/Berlin',
      thread_id,
      jitter_seconds: 60,
      max_runs: 30,
      overlap: 'buffer_one',
      catchup_seconds: 600,
      note: 'The news',
      mail_result: true,
      end_at: '2090-01-01T00:00:00Z',
    })
    const input = [{ type: 'human', content: [{ type: 'text', text: 'What is it?' }, pngPart] }]
    const seen = await client.post('/schedules/', { ...payload({ interval_seconds: 3600 }), input })
    const past = await create({ at: inSeconds(5) })
    await ended(past.schedule_id, 1)

    const archive = await archiveOf(service, client)
    const unpacked = gunzipSync(archive)
    const [described] = linesIn(unpacked, 'attachments')
    expect(described).toMatchObject({
      schedule_id: seen.schedule_id,
      content_type: 'image/png',
      size: png.length,
    })
    expect(unpacked.includes(png)).toBe(true)

    const target = await insertUser(service)
    const { status, body: report } = await importInto(service, target, archive)
    expect({ status, problems: report.problems, imported: report.imported.schedules }).toEqual({
      status: 200,
      problems: [],
      imported: 3,
    })
    const found = await service.collections.schedules.find({ user_id: target.userId }).lean()
    const byNote = found.find(({ note }) => note === 'The news')
    const [assistant] = await service.collections.assistants.find({ user_id: target.userId }).lean()
    const [thread] = await service.collections.threads.find({ user_id: target.userId, name: 'News' }).lean()
    const { input_json: inputJson, ...rest } = byNote ?? { input_json: '' }
    expect(rest).toMatchObject({
      assistant_id: assistant?._id,
      thread_id: thread?._id,
      cron: '30 7 * * 1-5',
      timezone: 'Europe/Berlin',
      jitter_seconds: 60,
      max_runs: 30,
      overlap: 'buffer_one',
      catchup_seconds: 600,
      end_at: new Date('2090-01-01T00:00:00Z'),
      created_at: new Date(daily.created_at),
      paused: true,
      mail_result: false,
      runs_made: 0,
    })
    expect(inputJson).toContain('What is new?')
    expect(found.every(({ _id }) => ![daily, seen, past].some((one) => one.schedule_id === _id))).toBe(true)
    for (const { pause_reason: reason } of found) expect(reason).toContain('Paused by the import')
    const without = found.find(({ interval_seconds: seconds }) => seconds === 3600)
    expect(without?.pause_reason).toContain('images, sounds and files were left out')
    // Temporal learns of them as of any other, and that they are paused.
    const handle = service.temporal.schedule.getHandle(`schedule/${byNote?._id}`)
    await eventually('Temporal has it', () => handle.describe().catch(() => undefined))
    expect((await handle.describe()).state.paused).toBe(true)

    const again = await importInto(service, target, archive)
    expect(again.body).toMatchObject({
      imported: { schedules: 0 },
      existing: { schedules: 3 },
      refused: { schedules: 0 },
    })
    // Only its owner continues it; then it is as any other.
    const continued = await target.patch(`/schedules/${byNote?._id}`, { paused: false })
    expect(continued).toMatchObject({ paused: false, pause_reason: null })
  })

  const place = member(
    'projects-00001.jsonl',
    lines({ project_id: 'p', name: 'P', description: '', created_at: '2026-01-01T00:00:00Z' }),
  )
  const helper = member(
    'assistants-00001.jsonl',
    lines({ assistant_id: 'a', project_id: 'p', name: 'A', config: {}, created_at: '2026-01-01T00:00:00Z' }),
  )
  const one = {
    schedule_id: 's',
    project_id: 'p',
    assistant_id: 'a',
    input: [{ type: 'HumanMessage', data: { id: 'm', content: 'What is new?' } }],
    cron: '0 7 * * *',
    timezone: 'UTC',
    jitter_seconds: 0,
    overlap: 'skip',
    catchup_seconds: 60,
    note: '',
    runs_made: 0,
    created_at: '2026-01-01T00:00:00Z',
  }

  it.each([
    ['of an assistant that is not in it', { assistant_id: 'other' }, 'its assistant was not imported'],
    ['of a thread that is not in it', { thread_id: 'other' }, 'its thread was not imported'],
    ['with an invalid expression', { cron: '60 * * * *' }, 'minute'],
    ['with two kinds of times', { interval_seconds: 60 }, 'cannot be given beside'],
    ['with an unknown time zone', { timezone: 'Europe/Nowhere' }, 'time zone'],
    ['beyond the time that Temporal knows', { cron: undefined, at: '9999-01-01T00:00:00Z' }, 'not be later'],
    [
      'with more text than a schedule has',
      { input: [{ type: 'HumanMessage', data: { id: 'm', content: 'x'.repeat(600_000) } }] },
      'too long',
    ],
  ])('%s are refused, and the rest is imported', async (_what, changes, reason) => {
    const user = await insertUser(service)
    const schedules = member('schedules-00001.jsonl', lines({ ...one, schedule_id: 't', ...changes }, one))
    const { status, body } = await importInto(service, user, whole(place, helper, schedules))
    expect(status).toBe(200)
    expect(body).toMatchObject({ imported: { schedules: 1 }, refused: { schedules: 1 }, problems: [{ id: 't' }] })
    expect(body.problems[0].reason).toContain(reason)
  })

  it.each([{ jitter_seconds: -1 }, { overlap: 'all' }, { max_runs: 0 }, { at: 'now' }, { at: '2026-13-01T00:00:00Z' }])(
    'that are no records make the archive one of another kind: %j',
    async (changes) => {
      const user = await insertUser(service)
      const schedules = member('schedules-00001.jsonl', lines({ ...one, ...changes }))
      expect((await importInto(service, user, whole(place, helper, schedules))).status).toBe(422)
    },
  )

  it('beyond what the account may have are refused', async () => {
    const user = await insertUser(service)
    const most = service.settings.scheduleMaxDefault
    const many = Array.from({ length: most + 3 }, (_, index) => ({ ...one, schedule_id: `s${index}` }))
    const { body } = await importInto(
      service,
      user,
      whole(place, helper, member('schedules-00001.jsonl', lines(...many))),
    )
    expect(body).toMatchObject({ imported: { schedules: most }, refused: { schedules: 3 } })
  })
})
