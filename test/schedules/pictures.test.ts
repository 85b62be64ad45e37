import { describe, expect, it } from 'vitest'
import { invalidInput } from '../../domain/errors.ts'
import { createSchedules } from '../../services/schedules/index.ts'
import { useModelService } from '../support/model-service.ts'
import { png, pngPart, pngUrl } from '../support/png.ts'
import { backfill, everyTenMinutes, planner } from './support.ts'

const audio = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), Buffer.alloc(32)]).toString('base64')

describe('images, sounds and files in the input of a schedule', () => {
  const service = useModelService({ respond: () => ({ text: 'A pixel.' }) })
  const question = [
    {
      type: 'human',
      content: [
        { type: 'text', text: 'What is it?' },
        pngPart,
        { type: 'input_audio', input_audio: { data: audio, format: 'wav' } },
        { type: 'file', file: { filename: 'a.txt', file_data: Buffer.from('Notes').toString('base64') } },
      ],
    },
  ]

  it('are asked about in each run, which has its own copies', async () => {
    const { client, payload, ended } = await planner(service)
    const schedule = await client.post('/schedules/', { ...payload({ cron: everyTenMinutes }), input: question })
    expect(schedule.input[0].data.content).toBe('What is it?')
    expect(schedule.input[0].data.parts.map(({ type }: { type: string }) => type)).toEqual([
      'text',
      'image',
      'audio',
      'file',
    ])
    await backfill(service, schedule.schedule_id, new Date('2026-03-01T10:00:00Z'), new Date('2026-03-01T10:10:00Z'))
    const runs = await ended(schedule.schedule_id, 2)
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success'])
    const asked = service.model.requests.slice(-2).map(({ body }) => body.messages.at(-1)?.content)
    for (const content of asked)
      expect(content).toEqual([
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: pngUrl } },
        { type: 'input_audio', input_audio: { data: audio, format: 'wav' } },
        { type: 'file', file: { filename: 'a.txt', file_data: expect.stringContaining('base64,Tm90ZXM=') } },
      ])
    const kept = await service.collections.attachments.find({ user_id: client.userId }, { bytes: 0 }).lean()
    expect(new Set(kept.map(({ thread_id: id }) => id))).toEqual(new Set(runs.map(({ thread_id: id }) => id)))
    expect(new Set(kept.map(({ _id }) => _id)).size).toBe(6)
    // Deleting the thread of a run leaves what the next one needs.
    for (const { thread_id: id } of runs) await client.delete(`/threads/${id}`)
    const next = await client.post(`/schedules/${schedule.schedule_id}/trigger`)
    expect(next).toMatchObject({ error: null })
    await ended(schedule.schedule_id, 1)
    expect(service.model.requests.at(-1)?.body.messages.at(-1)?.content).toHaveLength(4)

    const changed = await client.patch(`/schedules/${schedule.schedule_id}`, {
      input: [{ type: 'human', content: 'Only words.' }],
    })
    expect(changed.input[0].data).not.toHaveProperty('parts')
    const record = await service.collections.schedules.findById(schedule.schedule_id).select('+attachments').lean()
    expect(record).not.toHaveProperty('attachments')
  })

  it('stay when a change that Temporal refuses is taken back', async () => {
    const { client, payload } = await planner(service)
    const { schedule_id: id } = await client.post('/schedules/', {
      ...payload({ cron: everyTenMinutes }),
      input: question,
    })
    const stored = async () => {
      const record = await service.collections.schedules.findById(id).select('+attachments').lean()
      return { input_json: record?.input_json, note: record?.note, attachments: record?.attachments }
    }
    const before = await stored()
    expect(before.attachments).toHaveLength(3)
    const schedules = createSchedules({
      ...service.api.platform.core,
      sync: async () => {
        throw invalidInput(['body', 'cron'], 'is refused')
      },
      onError: (error) => expect(error).toBeUndefined(),
    })
    const change = { note: 'Words', input: [{ type: 'human' as const, content: 'Only words.' }] }
    await expect(schedules.update(client, id, change)).rejects.toThrow()
    expect(await stored()).toEqual(before)
  })

  it('are refused with their place if they are too large, too many, or of another kind', async () => {
    const { client, payload } = await planner(service)
    const send = (content: object[]) =>
      client.call('POST', '/schedules/', { ...payload({ cron: '0 7 * * *' }), input: [{ type: 'human', content }] })
    const many = await send(Array.from({ length: 9 }, () => pngPart))
    expect(many).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'input'] }] } })
    const half = Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]).toString('base64')
    const large = { type: 'image_url', image_url: { url: `data:image/png;base64,${half}` } }
    expect(await send([large, large])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'input', 0, 'content', 1, 'image_url', 'url'] }] },
    })
    const text = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${Buffer.from('x').toString('base64')}` },
    }
    expect(await send([text])).toMatchObject({ status: 422 })
    // An address that may not be reached is refused when the schedule is made, not in the night.
    const inner = { type: 'image_url', image_url: { url: 'http://127.0.0.1:1/a.png' } }
    expect(await send([inner])).toMatchObject({ status: 422 })
    expect((await client.get('/schedules/')).schedules).toEqual([])
  })
})
