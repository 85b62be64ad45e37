import { createHash } from 'node:crypto'
import { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

const service = useSharedService()
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const draw = `import base64\nopen("dot.png", "wb").write(base64.b64decode("${png}"))`
let calls = 0
/** The model executes this code, and then answers. */
function script(code: string, text: string): void {
  service.model.reply({ toolCalls: [{ id: `call-${++calls}`, name: 'code', arguments: { code } }] })
  service.model.reply({ text })
}
const csv = (text: string, name: string) => toFile(Buffer.from(text), name)

describe('code_interpreter of the assistants interface', () => {
  it('reads files of assistants, threads and messages, and gives what it writes as files', async () => {
    const { client } = await v1Client(service)
    const upload = async (text: string, name: string) =>
      (await client.files.create({ file: await csv(text, name), purpose: 'assistants' })).id
    const ids = await Promise.all(['one', 'two', 'three'].map((word) => upload(`${word}\n`, `${word}.csv`)))
    const [one = '', two = '', three = ''] = ids
    const assistant = await client.beta.assistants.create({
      model: service.settings.defaultModel,
      tools: [{ type: 'code_interpreter' }],
      tool_resources: { code_interpreter: { file_ids: [one] } },
    })
    expect(assistant).toMatchObject({
      tools: [{ type: 'code_interpreter' }],
      tool_resources: { code_interpreter: { file_ids: [one] } },
    })
    const thread = await client.beta.threads.create({ tool_resources: { code_interpreter: { file_ids: [two] } } })
    expect(thread.tool_resources).toEqual({ code_interpreter: { file_ids: [two] } })
    const attachments = [{ file_id: three, tools: [{ type: 'code_interpreter' as const }] }]
    const message = await client.beta.threads.messages.create(thread.id, { role: 'user', content: 'Draw', attachments })
    expect(message.attachments).toEqual(attachments)
    expect((await client.beta.threads.retrieve(thread.id)).tool_resources).toEqual({
      code_interpreter: { file_ids: [two, three] },
    })

    const code = `import os\n${draw}\nopen("sum.txt", "w").write("6")\nprint(sorted(os.listdir(".")))`
    script(code, 'See [the sum](sandbox:/mnt/data/sum.txt).')
    const run = await client.beta.threads.runs.createAndPoll(thread.id, { assistant_id: assistant.id })
    expect(run).toMatchObject({ status: 'completed', tools: [{ type: 'code_interpreter' }] })
    const [answer] = (await client.beta.threads.messages.list(thread.id, { run_id: run.id })).data
    const [text, image] = answer?.content ?? []
    const [path] = text?.type === 'text' ? text.text.annotations : []
    expect(path).toMatchObject({ type: 'file_path', text: 'sandbox:/mnt/data/sum.txt', start_index: 14, end_index: 39 })
    const written = path?.type === 'file_path' ? path.file_path.file_id : ''
    expect(await (await client.files.content(written)).text()).toBe('6')
    expect(await client.files.retrieve(written)).toMatchObject({ filename: 'sum.txt', purpose: 'assistants_output' })
    const imageId = image?.type === 'image_file' ? image.image_file.file_id : ''
    expect(Buffer.from(await (await client.files.content(imageId)).arrayBuffer()).toString('base64')).toBe(png)

    const steps = await client.beta.threads.runs.steps.list(run.id, { thread_id: thread.id, order: 'asc' })
    const [first] = steps.data
    expect(first?.step_details).toMatchObject({
      type: 'tool_calls',
      tool_calls: [
        {
          type: 'code_interpreter',
          code_interpreter: {
            input: code,
            outputs: [
              {
                type: 'logs',
                logs: expect.stringContaining("['dot.png', 'one.csv', 'sum.txt', 'three.csv', 'two.csv']"),
              },
              { type: 'image', image: { file_id: imageId } },
            ],
          },
        },
      ],
    })
    // A file that comes while the session goes on is there, and what the session has is not overwritten by it.
    const later = [{ file_id: await upload('late\n', 'late.csv'), tools: [{ type: 'code_interpreter' as const }] }]
    await client.beta.threads.messages.create(thread.id, { role: 'user', content: 'More', attachments: later })
    script(
      'print(open("late.csv").read(), open("sum.txt").read(), code if "code" in globals() else base64.__name__)',
      'ok',
    )
    const second = await client.beta.threads.runs.createAndPoll(thread.id, { assistant_id: assistant.id })
    const more = await client.beta.threads.runs.steps.list(second.id, { thread_id: thread.id, order: 'asc' })
    expect(JSON.stringify(more.data[0]?.step_details)).toContain('late\\n 6 base64')

    // Streamed: the code, what it gives, and the message with its image.
    const drawing = `${draw.replace('dot.png', 'other.png')}\nprint("drawn")`
    script(drawing, 'Here it is.')
    const seen: string[] = []
    let input = ''
    const outputs: unknown[] = []
    const stream = client.beta.threads.runs
      .stream(thread.id, {
        assistant_id: assistant.id,
        tools: [{ type: 'code_interpreter' }],
        tool_choice: { type: 'code_interpreter' },
      })
      .on('toolCallDelta', (delta) => {
        if (delta.type !== 'code_interpreter') return
        input += delta.code_interpreter?.input ?? ''
        outputs.push(...(delta.code_interpreter?.outputs ?? []))
      })
      .on('imageFileDone', ({ file_id: id }) => seen.push(`image ${id}`))
      .on('textDone', ({ value }) => seen.push(value))
    const last = await stream.finalRun()
    expect(last).toMatchObject({ tools: [{ type: 'code_interpreter' }], tool_choice: { type: 'code_interpreter' } })
    expect(input).toBe(drawing)
    const [logs, shownImage] = outputs
    expect(logs).toMatchObject({ index: 0, type: 'logs', logs: expect.stringContaining('drawn') })
    expect(shownImage).toMatchObject({ index: 1, type: 'image' })
    const [drawn] = await stream.finalMessages()
    const files = drawn?.content.flatMap((part) => (part.type === 'image_file' ? [part.image_file.file_id] : []))
    expect(files).toHaveLength(1)
    expect(seen).toEqual(['Here it is.', `image ${files?.[0]}`])
    const listed = await client.beta.threads.messages.list(thread.id, { run_id: last.id })
    expect(listed.data[0]?.content).toEqual(drawn?.content)
    expect((await stream.finalRunSteps())[0]?.step_details).toMatchObject({
      tool_calls: [
        { code_interpreter: { input: drawing, outputs: [{ type: 'logs' }, { image: { file_id: files?.[0] } }] } },
      ],
    })
  }, 300_000)
})

describe('code_interpreter of the responses interface', () => {
  it('executes code in the session of a conversation, and names its files', async () => {
    const { client } = await v1Client(service)
    const file = await client.files.create({ file: await csv('a,b\n1,2\n', 'data.csv'), purpose: 'user_data' })
    const tools = [{ type: 'code_interpreter' as const, container: { type: 'auto' as const, file_ids: [file.id] } }]
    const code = `${draw}\nrows = open("data.csv").read()\nopen("out/table.txt".split("/")[1], "w").write(rows)\nprint(rows)`
    script(code, 'It is in [a table](sandbox:/mnt/data/table.txt).')
    const model = service.settings.defaultModel
    const first = await client.responses.create({
      model,
      tools,
      input: 'Copy it',
      include: ['code_interpreter_call.outputs'],
      tool_choice: { type: 'code_interpreter' },
    })
    const [call, message] = first.output
    expect(call).toMatchObject({
      type: 'code_interpreter_call',
      id: expect.stringMatching(/^ci_/),
      status: 'completed',
      code,
      container_id: expect.stringMatching(/^cntr_/),
      outputs: [{ type: 'logs', logs: expect.stringContaining('a,b\n1,2') }, { type: 'image' }],
    })
    const container = call?.type === 'code_interpreter_call' ? call.container_id : ''
    const annotations =
      message?.type === 'message' && message.content[0]?.type === 'output_text' && message.content[0].annotations
    expect(annotations).toMatchObject([
      {
        type: 'container_file_citation',
        container_id: container,
        filename: 'table.txt',
        start_index: 19,
        end_index: 46,
      },
      { type: 'container_file_citation', container_id: container, filename: 'dot.png', start_index: 0, end_index: 0 },
    ])
    const cited = (annotations || []).flatMap((one) => (one.type === 'container_file_citation' ? [one.file_id] : []))
    const read = (id = '') => client.containers.files.content.retrieve(id, { container_id: container })
    expect(await (await read(cited[0])).text()).toBe('a,b\n1,2\n')
    const image = call?.type === 'code_interpreter_call' ? call.outputs?.[1] : undefined
    // The address is that of BASE_URL, which this service has not.
    const { pathname } = new URL(image?.type === 'image' ? image.url : '')
    const shown = await fetch(new URL(pathname, service.url), {
      headers: { authorization: `Bearer ${client.apiKey}` },
    })
    expect(Buffer.from(await shown.arrayBuffer()).toString('base64')).toBe(png)
    const files = await client.containers.files.list(container, { order: 'asc' })
    expect(files.data.map(({ path, source }) => [path, source])).toEqual([
      ['/mnt/data/data.csv', 'user'],
      ['/mnt/data/dot.png', 'assistant'],
      ['/mnt/data/table.txt', 'assistant'],
    ])
    // Outputs come only where they are asked for, and the session goes on.
    script('print(rows.upper())', 'Done.')
    const events: string[] = []
    let written = ''
    let shownAtEnd: unknown
    const stream = await client.responses.create({
      model,
      tools,
      input: 'Again',
      previous_response_id: first.id,
      stream: true,
    })
    for await (const event of stream) {
      events.push(event.type)
      if (event.type === 'response.code_interpreter_call_code.delta') written += event.delta
      if (event.type === 'response.completed') shownAtEnd = event.response.output[0]
    }
    expect(shownAtEnd).toMatchObject({ container_id: container, outputs: null })
    expect(written).toBe('print(rows.upper())')
    const at = (type: string) => events.indexOf(`response.${type}`)
    const order = [
      at('code_interpreter_call.in_progress'),
      at('code_interpreter_call_code.delta'),
      at('code_interpreter_call_code.done'),
      at('code_interpreter_call.interpreting'),
      at('code_interpreter_call.completed'),
    ]
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order[0]).toBeGreaterThan(0)
    expect(await client.containers.files.list(container)).toMatchObject({ data: { length: 3 } })
    // Another response that names its session has its files.
    script('print(open("table.txt").read())', 'Read.')
    const elsewhere = await client.responses.create({
      model,
      input: 'Read it',
      tools: [{ type: 'code_interpreter', container }],
      include: ['code_interpreter_call.outputs'],
    })
    expect(elsewhere.output[0]).toMatchObject({
      outputs: [{ type: 'logs', logs: expect.stringContaining('a,b\n1,2') }],
    })
    const items = await client.responses.inputItems.list(first.id)
    expect(items.data).toMatchObject([{ type: 'message' }])
    // Items that were answered can be sent again.
    service.model.reply({ text: 'Yes.' })
    const again = [...first.output, { role: 'user' as const, content: 'Really?' }]
    expect((await client.responses.create({ model, input: again as never })).output_text).toBe('Yes.')
    expect(JSON.stringify(service.model.requests.at(-1)?.body)).toContain('rows')
  }, 300_000)

  it('keeps the files of a response that is not to be stored for a while', async () => {
    const { client } = await v1Client(service)
    script('open("kept.txt", "w").write("kept")', 'Written.')
    const response = await client.responses.create({
      model: service.settings.defaultModel,
      store: false,
      input: 'Write',
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    })
    const [call] = response.output
    const container = call?.type === 'code_interpreter_call' ? call.container_id : ''
    const [file] = (await client.containers.files.list(container)).data
    const content = await client.containers.files.content.retrieve(file?.id ?? '', { container_id: container })
    expect(await content.text()).toBe('kept')
    const thread = await service.collections.threads.findById(container.slice('cntr_'.length)).lean()
    expect(thread?.expires_at?.getTime()).toBeGreaterThan(Date.now() + 15 * 60_000)
  }, 300_000)
})

describe('containers', () => {
  it('are made with files, used by responses, listed and deleted', async () => {
    const { client } = await v1Client(service)
    const file = await client.files.create({ file: await csv('from a file', 'a.txt'), purpose: 'user_data' })
    const made = await client.containers.create({
      name: 'Box',
      file_ids: [file.id],
      expires_after: { anchor: 'last_active_at', minutes: 10 },
      memory_limit: '4g',
    })
    expect(made).toMatchObject({
      object: 'container',
      name: 'Box',
      status: 'running',
      expires_after: { anchor: 'last_active_at', minutes: 10 },
      memory_limit: '4g',
    })
    const added = await client.containers.files.create(made.id, { file: await csv('uploaded', 'b.txt') })
    expect(added).toMatchObject({ object: 'container.file', container_id: made.id, path: '/mnt/data/b.txt', bytes: 8 })
    const named = await client.containers.files.create(made.id, { file_id: file.id })
    await client.containers.files.delete(named.id, { container_id: made.id })
    script('print(open("a.txt").read(), open("b.txt").read())\nopen("c.txt", "w").write("c")', 'Read.')
    const model = service.settings.defaultModel
    const tools = [{ type: 'code_interpreter' as const, container: made.id }]
    const include = ['code_interpreter_call.outputs' as const]
    const first = await client.responses.create({ model, input: 'Read', tools, include })
    expect(first.output[0]).toMatchObject({
      container_id: made.id,
      outputs: [{ logs: expect.stringContaining('from a file uploaded') }],
    })
    // Another conversation goes on in the same session.
    script('import os; x = 7\nprint(sorted(os.listdir(".")))', 'Listed.')
    await client.responses.create({ model, input: 'List', tools, include })
    script('print(x)', 'Printed.')
    const third = await client.responses.create({ model, input: 'Print', tools, include })
    expect(third.output[0]).toMatchObject({ outputs: [{ type: 'logs', logs: '7' }] })
    const files = await client.containers.files.list(made.id, { order: 'asc' })
    expect(files.data.map(({ path }) => path)).toEqual(['/mnt/data/a.txt', '/mnt/data/b.txt', '/mnt/data/c.txt'])
    const written = await client.containers.files.retrieve(files.data[2]?.id ?? '', { container_id: made.id })
    expect(written).toMatchObject({ source: 'assistant', bytes: 1 })
    expect((await client.containers.list({ name: 'Box' })).data).toMatchObject([{ id: made.id }])
    expect((await client.containers.list({ name: 'Other' })).data).toEqual([])
    // What code writes has no more room than what is uploaded; a new version takes the place of the one before.
    const { attachments } = service.collections
    const ofContainer = { thread_id: made.id.slice('cntr_'.length) }
    const [stored] = await attachments.find({ ...ofContainer, name: 'a.txt' }).lean()
    await attachments.insertMany(
      Array.from({ length: 97 }, (_, place) => ({ ...stored, _id: `cfile_${made.id}-${place}`, name: `${place}` })),
    )
    script('for name in "cd": open(f"{name}.txt", "w").write("new")', 'Written.')
    const full = await client.responses.create({ model, input: 'Write', tools, include })
    expect(JSON.stringify(full.output[0])).toContain('[Not kept: d.txt: the container has no room for it]')
    expect(await attachments.countDocuments(ofContainer)).toBe(100)
    expect(await attachments.countDocuments({ ...ofContainer, name: 'c.txt', size: 3 })).toBe(1)
    // It is in no list of threads.
    await client.containers.delete(made.id)
    expect(await refusalOf(client.containers.retrieve(made.id))).toMatchObject({ status: 404 })
    expect(await refusalOf(client.responses.create({ model, input: 'x', tools }))).toMatchObject({
      status: 400,
      param: 'tools[0].container',
    })
  }, 300_000)

  it('expire after their last use, are of one user, and are limited in number and size', async () => {
    const { client, owner } = await v1Client(service)
    const stranger = await v1Client(service)
    const made = await client.containers.create({ name: 'Mine' })
    expect(await refusalOf(stranger.client.containers.retrieve(made.id))).toMatchObject({ status: 404 })
    expect(await refusalOf(stranger.client.containers.files.list(made.id))).toMatchObject({ status: 404 })
    const file = await client.containers.files.create(made.id, { file: await csv('mine', 'mine.txt') })
    const other = await stranger.client.containers.create({ name: 'Theirs' })
    const read = stranger.client.containers.files.content.retrieve(file.id, { container_id: other.id })
    expect(await refusalOf(read)).toMatchObject({ status: 404 })
    await client.containers.files.delete(file.id, { container_id: made.id })
    const large = await toFile(Buffer.alloc(8 * 1024 * 1024 + 1), 'large.bin')
    expect(await refusalOf(client.containers.files.create(made.id, { file: large }))).toMatchObject({ status: 413 })
    const id = made.id.slice('cntr_'.length)
    const { threads, attachments } = service.collections
    const bytes = Buffer.from('x')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const one = { thread_id: id, user_id: owner.userId, content_type: 'text/plain', created_at: new Date() }
    await attachments.insertMany(
      Array.from({ length: 100 }, (_, place) => ({
        ...one,
        _id: `cfile_${id}-${place}`,
        name: `${place}`,
        size: 1,
        bytes,
        sha256,
      })),
    )
    const full = await refusalOf(client.containers.files.create(made.id, { file: await csv('x', 'x.txt') }))
    expect(full).toMatchObject({ status: 400, param: 'file' })
    expect(await attachments.countDocuments({ thread_id: id })).toBe(100)
    await threads.updateOne({ _id: id }, { $set: { expires_at: new Date(Date.now() - 1) } })
    expect(await client.containers.retrieve(made.id)).toMatchObject({ status: 'expired' })
    expect(await refusalOf(client.containers.files.list(made.id))).toMatchObject({ status: 404 })
    const all = await Promise.allSettled(
      Array.from({ length: 52 }, async (_, place) => client.containers.create({ name: `${place}` })),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
  }, 300_000)

  it('are refused where they would be other than asked for', async () => {
    const { client } = await v1Client(service)
    const network = { type: 'allowlist' as const, allowed_domains: ['example.com'] }
    const refused = await refusalOf(client.containers.create({ name: 'Net', network_policy: network }))
    expect(refused).toMatchObject({ status: 400, param: 'network_policy.type', code: 'unsupported_parameter' })
    const missing = await refusalOf(client.containers.create({ name: 'Net', file_ids: ['file-none'] }))
    expect(missing).toMatchObject({ status: 404 })
  })
})
