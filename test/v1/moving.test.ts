import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type OpenAI, toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportDump } from '../../scripts/moving/export-dump.ts'
import { importDump } from '../../scripts/moving/import-dump.ts'
import { useSharedService } from '../support/shared-service.ts'
import { clientWith, v1Client } from './v1-client.ts'

const hours = 'The office is open from nine to five. On Fridays the office closes at three.'
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const root = path.resolve(import.meta.dirname, '../..')

/** A command is a process that loads the client. */
const commandsMs = 180_000

describe('an application moves', { timeout: commandsMs }, () => {
  const service = useSharedService({ respond: () => ({ text: 'Hello' }) })
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'moving-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** A second project of the same user. */
  async function otherProject(owner: Awaited<ReturnType<typeof v1Client>>['owner']) {
    const { project_id: id } = await owner.post('/projects/', { name: 'Other' })
    const { jwt_token: token } = await owner.get(`/projects/${String(id)}`)
    return { client: clientWith(service, String(token)), token: String(token) }
  }

  /** As a person runs it: a process, which gets the key by its environment. */
  function run(script: string, key: string, ...args: string[]) {
    return new Promise<{ code: number; printed: string }>((resolve) => {
      const env = { ...process.env, ASSISTANTS_KEY: key }
      const command = [path.join(root, 'scripts', script), '--url', `${service.url}/v1`, ...args]
      execFile(process.execPath, command, { env, timeout: commandsMs / 3 }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, printed: stdout + stderr }),
      )
    })
  }

  async function dumpOf(name: string, ...lines: (object | string)[]): Promise<string> {
    const file = path.join(folder, name, 'export.jsonl')
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
    return file
  }

  /** Imports in this process; answers what was printed and the counts. */
  async function take(client: OpenAI, dump: string) {
    const printed: string[] = []
    const report = await importDump({
      dump,
      client,
      progressFile: `${dump}.progress`,
      print: (line) => void printed.push(line),
    })
    return { printed, counts: report.counts() }
  }

  it('with what the official client has made on one server, to another project, once', async () => {
    const { client, owner } = await v1Client(service)
    const file = await client.files.create({
      file: await toFile(Buffer.from(hours), 'hours.txt'),
      purpose: 'assistants',
    })
    const store = await client.vectorStores.create({ name: 'Papers', metadata: { team: 'blue' } })
    await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: file.id, attributes: { year: 2026 } },
      { pollIntervalMs: 200 },
    )
    const assistant = await client.beta.assistants.create({
      model: 'm',
      name: 'Helper',
      instructions: 'Be brief.',
      temperature: 0.5,
      metadata: { team: 'blue' },
      tools: [
        { type: 'file_search' },
        { type: 'function', function: { name: 'go', parameters: { type: 'object', properties: {} } } },
      ],
      tool_resources: { file_search: { vector_store_ids: [store.id] } },
    })
    const exported = path.join(folder, 'round')
    const saved = await run('export-assistants.ts', client.apiKey ?? '', '--to', exported)
    expect(saved).toMatchObject({ code: 0 })
    expect(await readFile(path.join(exported, 'files', file.id), 'utf8')).toBe(hours)

    const { client: second, token } = await otherProject(owner)
    const dump = path.join(exported, 'export.jsonl')
    const first = await run('import-assistants.ts', token, '--from', dump)
    expect(first.printed).toContain('assistant: 1 made, 0 there already, 0 not taken, 0 parts left out')
    expect(first.code).toBe(0)
    expect(first.printed).not.toContain(token)

    const moved = (await second.beta.assistants.list()).data
    const [newStore] = (await second.vectorStores.list()).data
    const [newFile] = (await second.files.list()).data
    expect(moved).toEqual([
      {
        ...assistant,
        id: expect.any(String),
        created_at: expect.any(Number),
        metadata: {
          team: 'blue',
          imported_id: assistant.id,
          imported_created_at: String(assistant.created_at),
        },
        tool_resources: { file_search: { vector_store_ids: [newStore?.id] } },
      },
    ])
    expect(newStore).toMatchObject({ name: 'Papers', metadata: { team: 'blue', imported_id: store.id } })
    expect(newFile).toMatchObject({ filename: 'hours.txt', bytes: hours.length })
    expect(await (await second.files.content(newFile?.id ?? '')).text()).toBe(hours)
    const [entry] = (await second.vectorStores.files.list(newStore?.id ?? '')).data
    expect(entry).toMatchObject({ id: newFile?.id, attributes: { year: 2026 } })

    // Again, also without the notes of the first time for what keeps its old id.
    const again = await run('import-assistants.ts', token, '--from', dump)
    expect(again.printed).toContain('file: 0 made, 1 there already')
    expect(again.printed).toContain('vector_store.file: 0 made, 1 there already')
    await rm(`${dump}.progress`)
    const { counts } = await take(second, dump)
    expect(counts['assistant']).toMatchObject({ made: 0, there: 1 })
    expect(counts['vector_store']).toMatchObject({ made: 0, there: 1 })
    expect((await second.beta.assistants.list()).data).toHaveLength(1)
  })

  it('takes up a file whose upload was not noted, and makes what was deleted anew', async () => {
    const { client } = await v1Client(service)
    const dump = await dumpOf('interrupted', { object: 'file', id: 'file-1', filename: 'a.txt', bytes: 5 })
    await mkdir(path.join(path.dirname(dump), 'files'))
    await writeFile(path.join(path.dirname(dump), 'files/file-1'), 'hello')
    // The process died between the upload and the note, in the middle of a line.
    const { id } = await client.files.create({
      file: await toFile(Buffer.from('hello'), 'a.txt'),
      purpose: 'assistants',
    })
    await appendFile(`${dump}.progress`, `${JSON.stringify({ kind: 'file', id: 'file-1', key: 'k' })}\n{"kind":"fi`)
    expect((await take(client, dump)).counts['file']).toMatchObject({ made: 0, there: 1 })
    expect((await client.files.list()).data.map((file) => file.id)).toEqual([id])
    await client.files.delete(id)
    expect((await take(client, dump)).counts['file']).toMatchObject({ made: 1, there: 0 })
    expect((await take(client, dump)).counts['file']).toMatchObject({ made: 0, there: 1 })
  })

  it('says what it cannot take, and takes the rest', async () => {
    const { client } = await v1Client(service)
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`
    const dump = await dumpOf(
      'hostile',
      'no JSON',
      '[]',
      { object: 'thread.run', id: 'run_1' },
      { object: 'assistant' },
      { object: 'assistant', id: '../x', model: 'm' },
      { object: 'thread.message', id: 'msg_1' },
      `{"object":"assistant","id":"asst_deep","x":${deep}}`,
      `{"object":"assistant","id":"asst_long","x":"${'x'.repeat(4 * 1024 * 1024)}"}`,
      { object: 'file', id: 'file-none', filename: 'a', bytes: 1 },
      { object: 'file', id: 'file-out', filename: 'a', bytes: 1, path: '../../etc/passwd' },
      { object: 'file', id: 'file-link', filename: 'a', path: 'link' },
      { object: 'file', id: 'file-size', filename: 'a', bytes: 4, path: 'five' },
      { object: 'vector_store.file', id: 'file-none', vector_store_id: 'vs_none' },
      {
        object: 'assistant',
        id: 'asst_code',
        model: 'm',
        name: 'Coder',
        tools: [{ type: 'code_interpreter' }, { type: 'file_search' }],
        tool_resources: { file_search: { vector_store_ids: ['vs_none'] } },
        own: 1,
        metadata: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, 'v'])),
      },
      { object: 'assistant', id: 'asst_code', model: 'm' },
      { object: 'assistant', id: 'asst_bad', model: 'm', temperature: 'hot' },
    )
    await writeFile(path.join(path.dirname(dump), 'five'), '12345')
    await symlink('/etc/hostname', path.join(path.dirname(dump), 'link'))
    const { printed, counts } = await take(client, dump)
    const lines = printed.join('\n')
    for (const said of [
      'not taken: dump line 1: is not JSON',
      'not taken: dump line 2: is not an object',
      'not taken: dump line 3: is not one of file,',
      'not taken: dump line 4: has no id',
      'not taken: dump line 5: has no id',
      'not taken: dump line 6: has no thread_id',
      'not taken: dump line 7: nests deeper than 64 levels',
      'not taken: dump line 8: is longer than 4194304 bytes',
      'not taken: dump line 15: assistant asst_code is there twice; the first is taken',
      'not taken: file file-none: there is no files/file-none beside the dump',
      'not taken: file file-out: ',
      'not taken: file file-link: link is outside of the folder of the dump',
      'not taken: file file-size: five has 5 bytes; the dump says that it has 4',
      'not taken: vector_store.file file-none: its vector store vs_none was not taken',
      'left out: tool_resources.file_search.vector_store_ids[0] of assistant asst_code: the vector_store vs_none was not taken',
      'left out: own of assistant asst_code: ',
      'left out: metadata.imported_id of assistant asst_code: there are 16 entries already',
      'not taken: assistant asst_bad: temperature: ',
    ])
      expect(lines).toContain(said)
    expect(counts['assistant']).toEqual({ made: 1, there: 0, refused: 1, partial: 3 })
    const { data } = await client.beta.assistants.list()
    expect(data.map(({ name, tools }) => ({ name, tools }))).toEqual([
      { name: 'Coder', tools: [{ type: 'code_interpreter' }, { type: 'file_search' }] },
    ])
    // Without its old id on the server, the note of the first time finds it.
    expect((await take(client, dump)).counts['assistant']).toMatchObject({ made: 0, there: 1 })
  })

  it('stops at a key that is refused, and goes on with the right one', async () => {
    const { client } = await v1Client(service)
    const dump = await dumpOf('key', { object: 'assistant', id: 'asst_1', model: 'm', name: 'One' })
    const wrong = await run('import-assistants.ts', 'wrong', '--from', dump)
    expect(wrong.code).toBe(1)
    expect(wrong.printed).toContain('The access token is invalid.')
    expect((await take(client, dump)).counts['assistant']).toMatchObject({ made: 1 })
  })

  it('with its conversations, in their order, however often and wherever it is interrupted', async () => {
    const { client, owner } = await v1Client(service)
    const thread = await client.beta.threads.create({ metadata: { user: 'Ada' } })
    const said = ['One?', 'One.', 'Two?', 'Two.', 'Three?']
    for (const [index, content] of said.entries())
      await client.beta.threads.messages.create(thread.id, {
        role: index % 2 === 0 ? 'user' : 'assistant',
        content,
        metadata: { number: String(index) },
      })
    const ids = path.join(folder, 'thread-ids')
    await writeFile(ids, `${thread.id}\n\nthread_unknown\n`)
    const exported = path.join(folder, 'threads')
    const saved = await run('export-assistants.ts', client.apiKey ?? '', '--to', exported, '--threads', ids)
    expect(saved.printed).toContain('not exported: thread thread_unknown: ')
    expect(saved.code).toBe(1)

    const { client: second } = await otherProject(owner)
    const dump = path.join(exported, 'export.jsonl')
    const lines = (await readFile(dump, 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(1 + said.length)
    // Some of one second, which does not say which is older.
    for (const [index, createdAt] of [1, 2, 2, 3, 3].entries())
      lines[index + 1] = JSON.stringify({ ...JSON.parse(lines[index + 1] ?? ''), created_at: createdAt })
    // As the interface lists them, the newest first; and first without the end of the conversation.
    await writeFile(dump, [...lines.slice(1, 4).toReversed(), lines[0]].join('\n'))
    expect((await take(second, dump)).counts).toMatchObject({
      thread: { made: 1 },
      'thread.message': { made: 3, refused: 0 },
    })
    await writeFile(dump, lines.toReversed().join('\n'))
    expect((await take(second, dump)).counts).toMatchObject({
      thread: { made: 0, there: 1 },
      'thread.message': { made: 2, there: 3, refused: 0 },
    })
    expect((await take(second, dump)).counts).toMatchObject({ 'thread.message': { made: 0, there: 5 } })

    const made = parsedLine(await readFile(`${dump}.progress`, 'utf8'), `"thread"`)
    const moved = await second.beta.threads.retrieve(made)
    expect(moved.metadata).toMatchObject({ user: 'Ada', imported_id: thread.id })
    const messages = (await second.beta.threads.messages.list(made, { order: 'asc' })).data
    expect(messages.map(({ role, content: [part] }) => [role, part?.type === 'text' && part.text.value])).toEqual(
      said.map((text, index) => [index % 2 === 0 ? 'user' : 'assistant', text]),
    )
    expect(messages[4]?.metadata).toMatchObject({ number: '4', imported_id: JSON.parse(lines[5] ?? '').id })
  })

  it('with the images and files of its messages', async () => {
    const { client, owner } = await v1Client(service)
    const upload = async (bytes: Buffer, name: string, purpose: OpenAI.FilePurpose) =>
      (await client.files.create({ file: await toFile(bytes, name), purpose })).id
    const image = await upload(png, 'a.png', 'vision')
    const text = await upload(Buffer.from(hours), 'hours.txt', 'assistants')
    const tools = [{ type: 'file_search' as const }]
    const thread = await client.beta.threads.create({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What are these?' },
            { type: 'image_file', image_file: { file_id: image, detail: 'low' } },
            {
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${png.toString('base64')}`, detail: 'high' },
            },
          ],
          attachments: [{ file_id: text, tools }],
        },
      ],
    })
    const exported = path.join(folder, 'pictures')
    const printed: string[] = []
    const saved = await exportDump({
      client,
      folder: exported,
      threads: [thread.id],
      print: (line) => void printed.push(line),
    })
    expect([printed, saved]).toMatchObject([[], { problems: 0, counts: { file: 3, vector_store: 1 } }])

    const { client: second } = await otherProject(owner)
    const dump = path.join(exported, 'export.jsonl')
    const taken = await take(second, dump)
    expect(taken.printed).toEqual([])
    expect(taken.counts).toMatchObject({ file: { made: 3 }, 'thread.message': { made: 1 } })
    const made = parsedLine(await readFile(`${dump}.progress`, 'utf8'), `"thread"`)
    const files = Object.fromEntries((await second.files.list()).data.map(({ filename, id }) => [filename, id]))
    const [message] = (await second.beta.threads.messages.list(made)).data
    expect(message).toMatchObject({
      content: [
        { type: 'text', text: { value: 'What are these?' } },
        { type: 'image_file', image_file: { file_id: files['a.png'], detail: 'low' } },
        { type: 'image_file', image_file: { file_id: files['image'], detail: 'high' } },
      ],
      attachments: [{ file_id: files['hours.txt'], tools }],
    })
    const [storeId = ''] =
      (await second.beta.threads.retrieve(made)).tool_resources?.file_search?.vector_store_ids ?? []
    expect((await second.vectorStores.retrieve(storeId)).file_counts.total).toBe(1)

    // The bytes are the thread's own: they outlive the files.
    for (const name of ['a.png', 'image']) await second.files.delete(files[name] ?? '')
    const assistant = await second.beta.assistants.create({ model: 'm' })
    await second.beta.threads.runs.createAndPoll(made, { assistant_id: assistant.id }, { pollIntervalMs: 50 })
    const shown = service.model.requests.at(-1)?.body.messages.flatMap(({ content }) => content)
    const url = `data:image/png;base64,${png.toString('base64')}`
    expect(shown).toEqual([
      { type: 'text', text: 'What are these?' },
      { type: 'image_url', image_url: { url, detail: 'low' } },
      { type: 'image_url', image_url: { url, detail: 'high' } },
    ])
  })

  it('with messages whose thread is not in the dump, and says what a thread cannot take', async () => {
    const { client } = await v1Client(service)
    const message = (id: string, at: number, content: unknown[], more = {}) => ({
      object: 'thread.message',
      id,
      thread_id: 'thread_alone',
      created_at: at,
      role: 'user',
      content,
      ...more,
    })
    const text = (value: string, annotations: unknown[] = []) => ({ type: 'text', text: { value, annotations } })
    const dump = await dumpOf(
      'alone',
      message('msg_2', 2, [text('Second', [{ type: 'file_citation' }])], { run_id: 'run_1', assistant_id: 'asst_1' }),
      message('msg_1', 1, [text('First')], {
        attachments: [{ file_id: 'file-gone', tools: [{ type: 'file_search' }] }],
      }),
      message('msg_3', 3, [{ type: 'image_file', image_file: { file_id: 'file-gone' } }]),
      { object: 'file', id: 'file-text', filename: 'a.txt', path: 'a.txt' },
      message('msg_4', 4, [
        { type: 'image_url', image_url: { url: 'http://127.0.0.1:1/a.png' } },
        text('Fourth'),
        { type: 'image_file', image_file: { file_id: 'file-text' } },
      ]),
    )
    await writeFile(path.join(path.dirname(dump), 'a.txt'), 'no image')
    const { printed, counts } = await take(client, dump)
    expect(counts).toMatchObject({ thread: { made: 1 }, 'thread.message': { made: 3, refused: 1, partial: 5 } })
    const lines = printed.join('\n')
    for (const words of [
      'left out: content[0].text.annotations of thread.message msg_2: they name places in the old files',
      'left out: attachments[0] of thread.message msg_1: the file file-gone was not taken',
      'left out: content[0] of thread.message msg_3: the file file-gone was not taken',
      'not taken: thread.message msg_3: ',
      'left out: content[0] of thread.message msg_4: content[0].image_url.url: could not be read',
      'left out: content[1] of thread.message msg_4: content[1].image_file.file_id: is not a PNG, JPEG, GIF or WebP image',
    ])
      expect(lines).toContain(words)
    const made = parsedLine(await readFile(`${dump}.progress`, 'utf8'), `"thread"`)
    const listed = (await client.beta.threads.messages.list(made, { order: 'asc' })).data
    const said = listed.map(({ content: [part] }) => part?.type === 'text' && part.text.value)
    expect(said).toEqual(['First', 'Second', 'Fourth'])
  })
})

/** The new id that the notes of an import have for an object of a kind. */
function parsedLine(notes: string, kind: string): string {
  const line = notes.split('\n').findLast((one) => one.includes(`"kind":${kind},`) && one.includes('new_id'))
  return JSON.parse(line ?? '').new_id
}
