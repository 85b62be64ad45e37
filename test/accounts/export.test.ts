import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { runProgram } from '../deploy/run-program.ts'
import { conversation, readRun } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, fetchLink, importInto, lines, member, whole } from '../support/archives.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess } from '../support/processes.ts'
import { insertUser } from '../support/users.ts'

const service = useModelService({ respond: () => ({ text: ['An answer to keep.'] }) })

describe('export of all data of a user', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'export-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const secret = 'a-secret-of-a-tool'
  const token = 'a-public-token-of-some-length'

  it('contains every record and file, and no secret', async () => {
    const talk = await conversation(service, {
      note: 'kept',
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': token,
      'type==agent/tools': [{ type: 'http_request', config: { headers: { 'x-key': secret } } }],
    })
    service.model.reply({ text: 'An answer to keep.' })
    const run = await talk.stream('A question to keep')
    const original = `# Harbour\n\n${'The office opens at six. '.repeat(60_000)}`
    const { body } = await (
      await knowledgeClient(talk.client)
    ).upload([{ name: 'guide.md', content: original }], '?wait=false')
    const stranger = await conversation(service)
    service.model.reply({ text: 'Of a stranger.' })
    await stranger.stream('Of a stranger')

    await talk.client.patch('/user/', { language: 'de' })
    const { url, expires_at: expiresAt } = await talk.client.post('/user/export')
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(23 * 3_600_000)
    const response = await fetchLink(service, url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    const archive = path.join(folder, 'export.tar.gz')
    await writeFile(archive, new Uint8Array(await response.arrayBuffer()))
    await runProgram('tar', ['-xzf', archive, '-C', folder])

    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
    const lines = async (kind: string): Promise<any[]> =>
      (await readFile(path.join(folder, `${kind}-00001.jsonl`), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    expect(names.map((name) => name.split('-0')[0] ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual([
      'assistants',
      'files',
      'messages',
      'projects',
      'runs',
      'threads',
    ])
    expect(JSON.parse(await readFile(path.join(folder, 'user.json'), 'utf8'))).toMatchObject({
      user_id: talk.client.userId,
      language: 'de',
    })
    expect(await lines('runs')).toMatchObject([{ run_id: run.runId, status: 'success' }])
    const [kept] = (await lines('assistants')).filter(({ assistant_id: id }) => id === talk.assistantId)
    expect(kept.config).toMatchObject({ note: 'kept', 'type==agent/public_token': '***' })
    expect(JSON.stringify(await lines('messages'))).toMatch(/A question to keep.*An answer to keep/)
    expect(await lines('files')).toMatchObject([{ file_id: body.files[0].id, name: 'guide.md', size: original.length }])
    expect(await readFile(path.join(folder, 'files', body.files[0].id), 'utf8')).toBe(original)

    const everything = (
      await Promise.all([...names, 'user.json'].map((name) => readFile(path.join(folder, name), 'utf8')))
    ).join('')
    for (const word of [secret, token, 'password', 'Of a stranger', stranger.client.userId])
      expect(everything).not.toContain(word)
  })

  it('can be downloaded with a valid link only', async () => {
    const [user, other] = [await insertUser(service), await insertUser(service)]
    const { url } = await user.post('/user/export')
    const changed = (name: string, value: string) => {
      const link = new URL(url)
      link.searchParams.set(name, value)
      return fetchLink(service, link.href)
    }
    expect((await changed('user_id', other.userId)).status).toBe(403)
    expect((await changed('expires', String(Date.now() + 10 * 86_400_000))).status).toBe(403)
    expect((await changed('signature', 'x'.repeat(43))).status).toBe(403)
    const { derivedSecrets } = service.api.platform.core
    const past = Date.now() - 1
    const old = new URLSearchParams({
      user_id: user.userId,
      expires: String(past),
      signature: derivedSecrets.exportSignature(user.userId, past),
    })
    expect((await apiClient(service.url).call('GET', `/user/export/archive?${old.toString()}`)).status).toBe(403)
    expect((await fetchLink(service, url)).status).toBe(200)
    const { entries } = await user.get('/user/audit')
    expect(entries.map(({ actor, action, outcome }: any) => `${actor} ${action} ${outcome}`)).toEqual([
      'anonymous users.exportArchive done',
      'user users.export done',
    ])
    // Nothing is stored: with the account, what the link leads to is gone.
    const { email } = await user.get('/user/')
    await user.call('DELETE', '/auth/delete-user', { email_confirmation: email })
    expect((await fetchLink(service, url)).status).toBe(404)
  })

  it('is limited to one download at a time for a user; a disconnect frees the slot', async () => {
    const talk = await conversation(service)
    // Random bytes do not shrink: more than what the sockets hold waits for its reader.
    const content = crypto.getRandomValues(new Uint8Array(65_536))
    const large = Buffer.concat(
      Array.from({ length: 256 }, () => Buffer.from(content.map((byte) => byte ^ Math.floor(Math.random() * 256)))),
    )
    await (
      await knowledgeClient(talk.client)
    ).upload([{ name: 'noise.bin', content: new Uint8Array(large) }], '?wait=false')
    const { url } = await talk.client.post('/user/export')
    const first = await fetchLink(service, url)
    expect(first.status).toBe(200)
    expect((await fetchLink(service, url)).status).toBe(429)
    // A bystander is not kept waiting.
    const bystander = await insertUser(service)
    expect((await fetchLink(service, (await bystander.post('/user/export')).url)).status).toBe(200)
    await first.body?.cancel()
    await expect.poll(async () => (await fetchLink(service, url)).status, { timeout: 20_000 }).toBe(200)
  })
})

describe('import of an archive', () => {
  const none = {
    projects: 0,
    vector_stores: 0,
    assistants: 0,
    threads: 0,
    messages: 0,
    runs: 0,
    tool_calls: 0,
    feedback: 0,
    schedules: 0,
    prompts: 0,
    memories: 0,
    files: 0,
    vector_store_files: 0,
  }
  /** A user with everything that an import brings over. */
  async function estate() {
    const talk = await conversation(service, {
      note: 'kept',
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': `pt-${newId()}`,
      'type==agent/tools': [
        { type: 'http_request', config: { allowed_hosts: ['harbour.test'], headers: { 'x-key': 'a-secret' } } },
      ],
    })
    const run = await talk.stream('A question to keep')
    await talk.stream('Another question')
    const path = `/assistants/${talk.assistantId}/files`
    const form = new FormData()
    form.append('files', new Blob(['# Harbour\n\nThe office opens at six.'], { type: 'text/markdown' }), 'guide.md')
    expect((await talk.client.call('POST', path, form)).status).toBe(200)
    const call = { run_id: run.runId, thread_id: talk.threadId, step: 0, name: 'http_request', created_at: new Date() }
    const args_json = JSON.stringify({ method: 'POST', url: 'https://harbour.test/berths' })
    await service.collections.toolCalls.create([
      { ...call, _id: `${run.runId}/0/0`, index: 0, call_id: 'c1', args_json, status: 'done', result: 'Booked.' },
      { ...call, _id: `${run.runId}/0/1`, index: 1, call_id: 'c2', args_json, status: 'waiting' },
    ])
    const opinion = { run_id: run.runId, key: 'helpful', score: true, value: { of: ['berths'] }, comment: 'Quick.' }
    expect((await talk.client.call('POST', '/runs/feedback', opinion)).status).toBe(200)
    return { ...talk, runId: run.runId }
  }

  /** All that a user has, without ids. */
  async function contentsOf({ userId }: { userId: string }) {
    const own = { user_id: userId }
    const { projects, assistants, threads, checkpoints, runs, toolCalls, feedback, files } = service.collections
    const byId = { _id: 1 } as const
    const ownThreads = await threads.find(own).sort(byId).lean()
    const entries = await Promise.all(
      ownThreads.map((thread) => checkpoints.find({ thread_id: thread._id }).sort({ seq: 1 }).lean()),
    )
    return {
      projects: (await projects.find(own).sort({ name: 1 }).lean()).map(({ name }) => name),
      assistants: (await assistants.find(own).sort(byId).lean()).map(({ name }) => name),
      threads: ownThreads.map(({ name, last_seq: seq, last_outcome: outcome, created_at: at }) => [
        name,
        seq,
        outcome,
        at,
      ]),
      entries: entries
        .flat()
        .map(({ messages_json: json, source, seq, step }) => [seq, source, step, JSON.parse(json)]),
      runs: (await runs.find(own).sort(byId).lean()).map(({ status, input_json: input, usage }) => [
        status,
        input,
        usage,
      ]),
      toolCalls: (
        await toolCalls
          .find({ thread_id: { $in: ownThreads.map(({ _id }) => _id) } })
          .sort(byId)
          .lean()
      ).map(({ step, index, call_id: id, name, args_json: args }) => [step, index, id, name, args]),
      feedback: (await feedback.find(own).sort(byId).lean()).map(({ key, score, value_json: value, comment }) => [
        key,
        score,
        value,
        comment,
      ]),
      files: (await files.find(own).sort(byId).lean()).map(({ name, sha256, size }) => [name, sha256, size]),
    }
  }

  it('brings everything over under new ids, without secrets, and nothing twice', async () => {
    const source = await estate()
    const before = await contentsOf(source.client)
    const archive = await archiveOf(service, source.client)
    const target = await insertUser(service)
    const { status, body: report } = await importInto(service, target, archive)
    expect(status).toBe(200)
    expect(report).toMatchObject({
      imported: { projects: 1, assistants: 1, threads: 1, runs: 2, tool_calls: 2, feedback: 1, files: 1 },
      existing: none,
      refused: none,
      problems: [],
    })
    const { assistants } = service.collections
    const assistant = await assistants.findOne({ user_id: target.userId }).lean()
    const assistantId = assistant?._id ?? ''
    expect(report.unpublished).toEqual([assistantId])
    expect(report.missing_secrets).toEqual([
      {
        assistant_id: assistantId,
        name: 'Helper',
        members: expect.arrayContaining(['type==agent/public_token', 'type==agent/tools.0.config.headers.x-key']),
      },
    ])
    const shown = await target.fetch('GET', `/assistants/${assistantId}`)
    expect(await shown.json()).toMatchObject({
      public: false,
      config: {
        note: 'kept',
        'type==agent/tools': [{ type: 'http_request', config: { allowed_hosts: ['harbour.test'] } }],
      },
    })
    const after = await contentsOf(target)
    expect(after).toEqual({ ...before, projects: ['main', 'main (imported)'] })
    const [run] = await service.collections.runs.find({ user_id: target.userId }).sort({ _id: 1 }).lean()
    const output = await target.get(`/threads/${run?.thread_id}/state`)
    expect(JSON.stringify(output.values)).toContain('A question to keep')
    expect(run?.assistant_id).toBe(assistantId)
    expect(run?._id).not.toBe(source.runId)
    const isReady = async () => (await target.get(`/assistants/${assistantId}/files`)).files[0].metadata.status
    await expect.poll(isReady, { timeout: 30_000 }).toBe('ready')

    const again = await importInto(service, target, archive)
    expect(again.body).toMatchObject({ imported: none, existing: report.imported, refused: none })
    expect(await contentsOf(target)).toEqual(after)
    expect(await contentsOf(source.client)).toEqual(before)
    // An imported thread goes on as any other.
    const more = await readRun(
      await target.fetch('POST', '/runs/stream', {
        thread_id: run?.thread_id,
        assistant_id: assistantId,
        input: [{ type: 'human', content: 'And now?' }],
      }),
    )
    expect(more.end).toBe('end')
    expect(await importInto(service, target, archive)).toMatchObject({
      status: 200,
      body: { imported: none, refused: none },
    })
  })

  it('imports tool calls and feedback as records of the past: no call is executed or approved, no feedback is sent', async () => {
    const source = await estate()
    await service.collections.feedback.updateMany({ run_id: source.runId }, { $set: { status: 'submitted' } })
    const target = await insertUser(service)
    const archive = await archiveOf(service, source.client)
    expect((await importInto(service, target, archive)).status).toBe(200)
    const [run] = await service.collections.runs.find({ user_id: target.userId }).sort({ _id: 1 }).lean()
    const calls = await service.collections.toolCalls
      .find({ run_id: run?._id ?? '' })
      .sort({ index: 1 })
      .lean()
    expect(calls).toMatchObject([
      { status: 'done', result: 'Booked.' },
      { status: 'done', result: expect.stringContaining('not executed') },
    ])
    expect((await target.call('POST', `/runs/${run?._id}/resume`, { action: 'approve' })).status).toBe(409)
    const [opinion] = await service.collections.feedback.find({ user_id: target.userId }).lean()
    expect(opinion).toMatchObject({ run_id: run?._id, thread_id: run?.thread_id, status: 'stored' })
    const delivery = service.temporal.workflow.getHandle(`feedback/${opinion?._id}`)
    await expect(delivery.describe()).rejects.toThrow(/not found/i)
    // They go with their thread.
    expect((await target.call('DELETE', `/threads/${run?.thread_id}`)).status).toBe(200)
    expect(await contentsOf(target)).toMatchObject({ toolCalls: [], feedback: [] })
    const again = await importInto(service, target, archive)
    expect(again.body).toMatchObject({ imported: { threads: 1, runs: 2, tool_calls: 2, feedback: 1 }, refused: none })
  })

  it('is completed by a repetition after the process that read it was killed', async () => {
    const source = await estate()
    const archive = await archiveOf(service, source.client)
    const target = await insertUser(service)
    const process = await startApiProcess(service.env)
    // gzip hands on what it has read: the records of half of an archive are stored before the rest comes.
    const half = new ReadableStream({
      start: (controller) => controller.enqueue(archive.slice(0, Math.floor(archive.length / 2))),
    })
    const cut = importInto(process, target, half).catch(() => 'cut off')
    const isBegun = () => service.collections.projects.countDocuments({ user_id: target.userId })
    await expect.poll(isBegun, { timeout: 30_000 }).toBe(2)
    await process.kill()
    expect(await cut).toBe('cut off')
    const { status, body: report } = await importInto(service, target, archive)
    expect(status).toBe(200)
    expect(report).toMatchObject({ existing: { projects: 1 }, refused: none, imported: { files: 1 } })
    const [mine, other] = [await contentsOf(target), await contentsOf(source.client)]
    expect({ ...mine, projects: [] }).toEqual({ ...other, projects: [] })
  })

  it('keeps to the quotas, says what it left out, and takes it when there is room', async () => {
    const archive = await archiveOf(service, (await estate()).client)
    const target = await insertUser(service, { threadMax: 0 })
    await service.collections.users.updateOne({ _id: target.userId }, { $set: { storage_max_mb: 0 } })
    const { body: report } = await importInto(service, target, archive)
    expect(report).toMatchObject({
      imported: { ...none, projects: 1, assistants: 1 },
      refused: { threads: 1, runs: 2, files: 1 },
    })
    expect(report.refused.messages).toBeGreaterThan(0)
    expect(report.problems.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(['threads', 'files']),
    )
    expect(await contentsOf(target)).toMatchObject({ threads: [], runs: [], files: [] })
    await service.collections.users.updateOne(
      { _id: target.userId },
      { $set: { thread_max: 5 }, $unset: { storage_max_mb: 1 } },
    )
    const again = await importInto(service, target, archive)
    expect(again.body).toMatchObject({ imported: { threads: 1, runs: 2, files: 1 }, refused: none })
  })

  const at = new Date('2026-01-01T00:00:00Z')
  const created_at = at.toISOString()
  const project = { project_id: newId(), name: 'P', description: '', created_at }
  const file = { file_id: 'f', assistant_id: 'a', name: 'f.txt', content_type: 'text/plain', path: 'files/f' }

  let refused: Awaited<ReturnType<typeof insertUser>>
  beforeAll(async () => {
    refused = await insertUser(service)
  })

  // All others are in test/infra/refused-archives.test.ts, read by the same code without a thread for each.
  it.each<[string, number, () => Buffer]>([
    ['is damaged', 422, () => whole(member('projects-00001.jsonl', lines(project))).subarray(0, -20)],
    ['has a file without a record', 422, () => whole(member('files/f', 'x'))],
    [
      'unpacks to far more than its size',
      413,
      () => whole(member('files-00001.jsonl', lines(file)), member('files/f', Buffer.alloc(80 * 1024 * 1024))),
    ],
  ])('refuses an archive that %s', async (_case, status, archive) => {
    // One user for all: with the slot of the archive before it still taken, the answer would be 429.
    const answer = await importInto(service, refused, new Uint8Array(archive()))
    expect(answer.status).toBe(status)
    expect((await contentsOf(refused)).files).toEqual([])
  })

  it('frees the slot after an archive that it refuses', async () => {
    expect((await importInto(service, refused, new Uint8Array(Buffer.alloc(0)))).status).toBe(422)
    expect((await importInto(service, refused, new Uint8Array(whole()))).status).toBe(200)
  })

  it('cannot reach records of others, whatever ids an archive names', async () => {
    const victim = await estate()
    const before = await contentsOf(victim.client)
    const user = await insertUser(service)
    const thread = {
      project_id: victim.client.projectId,
      name: 'T',
      public: false,
      metadata: {},
      created_at,
      updated_at: created_at,
    }
    const archive = whole(
      member('projects-00001.jsonl', lines({ ...project, project_id: victim.client.projectId })),
      member(
        'threads-00001.jsonl',
        lines({ ...thread, thread_id: victim.threadId }, { ...thread, thread_id: 't', project_id: 'elsewhere' }),
      ),
      member(
        'messages-00001.jsonl',
        lines({
          thread_id: victim.threadId,
          seq: 1,
          source: 'update',
          run_id: victim.runId,
          messages: [{ type: 'HumanMessage', data: { id: 'm', content: 'planted' } }],
          created_at,
        }),
      ),
      member(
        'tool-calls-00001.jsonl',
        lines({
          run_id: victim.runId,
          step: 0,
          index: 5,
          call_id: 'c',
          name: 'http_request',
          args: {},
          status: 'waiting',
          created_at,
        }),
      ),
      member('feedback-00001.jsonl', lines({ feedback_id: 'f', run_id: victim.runId, key: 'planted', created_at })),
      member('files-00001.jsonl', lines({ ...file, assistant_id: victim.assistantId })),
      member('files/f', 'planted'),
    )
    const { status, body: report } = await importInto(service, user, new Uint8Array(archive))
    expect(status).toBe(200)
    expect(report).toMatchObject({
      // What a member of a project had there goes into a project of his own.
      imported: { projects: 1, threads: 2, messages: 1 },
      refused: { threads: 0, tool_calls: 1, feedback: 1, files: 1 },
    })
    expect(await contentsOf(victim.client)).toEqual(before)
    const { threads, files } = await contentsOf(user)
    expect(threads).toHaveLength(2)
    expect(threads).toContainEqual(['T', 1, 'none', at])
    expect(files).toEqual([])
  })
})
