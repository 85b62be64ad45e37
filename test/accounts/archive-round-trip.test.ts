import { isDeepStrictEqual } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { isJsonObject } from '../../domain/json.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import { cases } from '../fuzz/settings.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, importInto, lines, linesIn, manifest, member } from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { tarEnd } from '../support/tar.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const never = new Promise<never>(() => undefined)

/** What an account's owner and its public callers do, one after the other. */
const deed = fc.oneof(
  fc.record({ does: fc.constant('ask' as const), how: fc.constantFrom('well', 'tools', 'fail'), thread: fc.nat(2) }),
  fc.record({ does: fc.constant('leave' as const), how: fc.constantFrom('hang', 'approve'), thread: fc.nat(2) }),
  fc.record({ does: fc.constant('queue' as const), runs: fc.integer({ min: 1, max: 3 }), thread: fc.nat(2) }),
  fc.record({
    does: fc.constant('say' as const),
    id: fc.constantFrom('m1', 'm2'),
    text: fc.string(),
    thread: fc.nat(2),
  }),
  fc.record({
    does: fc.constant('upload' as const),
    status: fc.constantFrom('queued', 'processing', 'failing', 'ready', 'failed'),
  }),
  fc.record({ does: fc.constant('publish' as const), text: fc.string({ minLength: 1 }) }),
)
type Deed = typeof deed extends fc.Arbitrary<infer D> ? D : never

describe('an archive', () => {
  const service = useSharedService({
    respond: ({ body }) => {
      const last = body.messages.at(-1)
      const asked = String(body.messages.findLast(({ role }) => role === 'user')?.content)
      if (asked.startsWith('fail')) return { text: ['Half an '], breakConnection: true }
      if (asked.startsWith('hang')) return { text: ['Half an ', never] }
      const calls = asked.startsWith('tools') || asked.startsWith('approve')
      if (calls && last?.role === 'user')
        return {
          text: 'I look.',
          toolCalls: [{ id: newId(), name: 'http_request', arguments: { url: 'http://127.0.0.1:1/' } }],
        }
      return { text: `An answer "to" ${asked}` }
    },
  })

  async function account() {
    const tools = { 'type==agent/tools': [{ type: 'http_request' }] }
    const talk = await conversation(service, tools)
    const waiting = await talk.client.post('/assistants/', {
      name: 'Careful',
      config: { ...tools, 'type==agent/interrupt_before_action': true },
    })
    const open = await talk.client.post('/assistants/', {
      name: 'Open',
      config: { 'type==agent/access_mode': 'public_no_auth' },
    })
    const others = await Promise.all(
      [1, 2].map((number) => talk.client.post('/threads/', { name: `Talk ${number}`, metadata: { number, '-': -0 } })),
    )
    const threads = [talk.threadId, ...others.map(({ thread_id: id }) => String(id))]
    return { ...talk, threads, careful: String(waiting.assistant_id), open: String(open.assistant_id) }
  }
  type Account = Awaited<ReturnType<typeof account>>

  async function act({ client, assistantId, careful, open, threads }: Account, one: Deed): Promise<void> {
    const threadId = 'thread' in one ? threads[one.thread] : undefined
    const input = (text: string) => ({ thread_id: threadId, input: [{ type: 'human', content: `${text} ${newId()}` }] })
    const statusOf = async (runId: string) => (await service.collections.runs.findById(runId).lean())?.status
    switch (one.does) {
      case 'ask': {
        const overrides = { temperature: 0.5, stop: ['###'] }
        await allEvents(
          await client.fetch('POST', '/runs/stream', { ...input(one.how), assistant_id: assistantId, ...overrides }),
        )
        return
      }
      case 'leave': {
        const id = one.how === 'hang' ? assistantId : careful
        const { run_id: runId } = await client.post('/runs/', { ...input(one.how), assistant_id: id })
        // It waits behind an open run, or it goes on until it waits for the model or a person.
        const thread = await service.collections.runs.countDocuments({
          thread_id: threadId,
          status: { $in: ['running', 'interrupted'] },
        })
        if (thread === 0)
          await eventually('the run to wait', async () => /running|interrupted/.test((await statusOf(runId)) ?? ''))
        return
      }
      case 'queue': {
        const ids: string[] = []
        for (let count = 0; count < one.runs; count++)
          ids.push((await client.post('/runs/', { ...input('well'), assistant_id: assistantId })).run_id)
        if (one.runs > 2) await client.call('POST', `/runs/${ids.at(-1)}/cancel`)
        return
      }
      case 'say': {
        const values = [{ type: 'human', id: one.id, content: one.text }]
        await client.post(`/threads/${threadId}/state`, { values })
        return
      }
      case 'upload': {
        const form = new FormData()
        form.append('files', new Blob([`A text ${newId()}`], { type: 'text/plain' }), 'text "1".txt')
        const { body } = await client.call('POST', `/assistants/${assistantId}/files`, form)
        await service.collections.files.updateOne({ _id: body.files[0].id }, { $set: { status: one.status } })
        return
      }
      case 'publish': {
        const payload = { assistant_id: open, input: [{ type: 'human', content: one.text }] }
        await allEvents(await apiClient(service.url).fetch('POST', '/public/runs/stream', payload))
      }
    }
  }

  const byText = (rows: unknown[]) => rows.map((row) => JSON.stringify(row, inOrder)).toSorted()
  const inOrder = (_key: string, value: unknown): unknown =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value
  /** A run that was open has been cancelled; its calls have a result that says so. */
  const asImported = ({ status, finished_at: finished, ...run }: RunRecord) =>
    isOpenRun({ status })
      ? { ...run, status: 'cancelled', finished_at: run.created_at }
      : { ...run, status, finished_at: finished }

  /** All that the user has, without ids, in an order that does not depend on them. */
  async function contentsOf({ userId }: Pick<TestUser, 'userId'>) {
    const own = { user_id: userId }
    const { projects, assistants, threads, checkpoints, runs, toolCalls, feedback, files } = service.collections
    const stored = await threads.find(own).lean()
    const logs = await Promise.all(
      stored.map(
        async ({
          _id,
          user_id: _u,
          project_id: _p,
          assistant_id: _a,
          holds: _h,
          counted: _c,
          last_entry_id: _l,
          imported_at: _i,
          ...thread
        }) => ({
          ...thread,
          log: (await checkpoints.find({ thread_id: _id }).sort({ seq: 1 }).lean()).map(
            ({ _id: _e, thread_id: _t, run_id: runId, ...entry }) => ({ ...entry, ofRun: runId !== undefined }),
          ),
        }),
      ),
    )
    const calls = await toolCalls.find({ thread_id: { $in: stored.map(({ _id }) => _id) } }).lean()
    return {
      projects: byText((await projects.find(own).lean()).map(({ name, description }) => [name, description])),
      assistants: byText((await assistants.find(own).lean()).map(({ name, created_at: at }) => [name, at])),
      threads: byText(logs),
      runs: byText(
        (await runs.find(own).lean<RunRecord[]>()).map((run) => {
          const { input_json, overrides, usage, usage_by_model, model, error, created_at, started_at, metadata_json } =
            run
          const { status, finished_at } = asImported(run)
          const texts = { input_json, overrides, usage, usage_by_model, model, error, metadata_json }
          return { ...texts, status, created_at, started_at, finished_at, public: run.public }
        }),
      ),
      toolCalls: byText(
        calls.map(({ _id, run_id: _r, thread_id: _t, claimed_by: _c, status, result, finished_at: _f, ...call }) => ({
          ...call,
          result: status === 'done' && !result?.startsWith('This call was not finished') ? result : undefined,
        })),
      ),
      feedback: byText((await feedback.find(own).lean()).map(({ key, score }) => [key, score])),
      files: byText(
        (await files.find(own).lean()).map(({ name, content_type, size, sha256 }) => [
          name,
          content_type,
          size,
          sha256,
        ]),
      ),
    }
  }

  it('brings every account over: nothing of it is refused, and everything is the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 9 }), async (deeds) => {
        const source = await account()
        for (const one of deeds) await act(source, one)
        const [run] = await service.collections.runs.find({ user_id: source.client.userId, status: 'success' }).lean()
        if (run) await source.client.post('/runs/feedback', { run_id: run._id, key: 'helpful', score: 1 })
        await settled(source.client)
        const { archive, before } = await exportAtRest(source.client)
        const target = await insertUser(service)
        await service.collections.projects.deleteMany({ user_id: target.userId })
        const { status, body } = await importInto(service, target, archive)
        expect([status, body.problems]).toEqual([200, []])
        expect(await contentsOf(target)).toEqual(before)
      }),
      { ...cases(6), endOnFailure: true },
    )
  }, 600_000)

  /** An archive of an account that did not change while it was written. */
  async function exportAtRest(client: Account['client']) {
    return eventually(
      'an export during which the account does not change',
      async () => {
        const before = await contentsOf(client)
        const archive = await archiveOf(service, client)
        return isDeepStrictEqual(await contentsOf(client), before) && { archive, before }
      },
      60_000,
    )
  }

  /** The runs that will end have ended. */
  async function settled({ userId }: Pick<TestUser, 'userId'>): Promise<void> {
    const stuck = await service.collections.runs.distinct('thread_id', {
      user_id: userId,
      status: { $in: ['running', 'interrupted'] },
      input_json: /"content":"(?:hang|approve)/,
    })
    const going = {
      user_id: userId,
      thread_id: { $nin: stuck },
      status: { $in: ['pending' as const, 'running' as const] },
    }
    await expect.poll(() => service.collections.runs.countDocuments(going), { timeout: 60_000 }).toBe(0)
  }

  it('has the entries of a thread in the order of their numbers, and may have them in any', async () => {
    const source = await conversation(service)
    // Questions that wait for their turn have their ids before the answers that precede them in the log.
    const runs = await Promise.all(['One', 'Two', 'Three'].map((text) => source.start(text)))
    const last = runs.at(-1)?.run_id
    const statusOf = async () => (await service.collections.runs.findById(last).lean())?.status
    await expect.poll(statusOf, { timeout: 30_000 }).toBe('success')
    await settled(source.client)
    const tar = gunzipSync(await archiveOf(service, source.client))
    const entries = linesIn(tar, 'messages')
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    const before = await contentsOf(source.client)
    const kinds = ['projects', 'assistants', 'threads'].map((kind) =>
      member(`${kind}-00001.jsonl`, lines(...linesIn(tar, kind))),
    )
    const shuffled = member('messages-00001.jsonl', lines(...[5, 0, 3, 2, 4, 1].map((index) => entries[index])))
    const target = await insertUser(service)
    const archive = gzipSync(Buffer.concat([manifest, ...kinds, shuffled, tarEnd]))
    const { body } = await importInto(service, target, archive)
    expect([body.imported.messages, body.problems]).toEqual([6, []])
    expect((await contentsOf(target)).threads).toEqual(before.threads)
    const again = await importInto(service, target, archive)
    expect([again.body.existing.messages, again.body.problems]).toEqual([6, []])
    // An entry without the one before it is refused at the end.
    const gap = member('messages-00001.jsonl', lines(...[5, 0, 3, 2].map((index) => entries[index])))
    const other = await insertUser(service)
    const report = (await importInto(service, other, gzipSync(Buffer.concat([manifest, ...kinds, gap, tarEnd])))).body
    expect([report.imported.messages, report.refused.messages]).toEqual([1, 3])
    expect(report.problems[0].reason).toBe('an entry before it is missing')
  })
})
