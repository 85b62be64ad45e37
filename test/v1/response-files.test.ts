import { type OpenAI, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { startHttpServer } from '../support/http-server.ts'
import { png, pngUrl } from '../support/png.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

const text = 'the content of the file'
const textUrl = `data:text/plain;base64,${Buffer.from(text).toString('base64')}`

describe('images and files in the input of /v1 responses', () => {
  const service = useSharedService()
  const shown = () => service.model.requests.at(-1)?.body.messages.map(({ content }) => content)
  const attachmentsOf = (userId: string) => service.collections.attachments.countDocuments({ user_id: userId })

  it('come from addresses, data and uploads, are shown to the model, and go on in the next response', async () => {
    const { client, owner } = await v1Client(service)
    const site = await startHttpServer((request, response) => void response.end(request.url === '/a.png' ? png : text))
    const upload = (bytes: Buffer, name: string) =>
      toFile(bytes, name).then((file) => client.files.create({ purpose: 'user_data', file }))
    const [image, notes] = [await upload(png, 'a.png'), await upload(Buffer.from(text), 'notes.txt')]
    const content: OpenAI.Responses.ResponseInputContent[] = [
      { type: 'input_text', text: 'Look: ' },
      { type: 'input_image', image_url: `${site.url}/a.png`, detail: 'low' },
      { type: 'input_image', image_url: pngUrl, detail: 'auto' },
      { type: 'input_image', file_id: image.id, detail: 'high' },
      { type: 'input_file', filename: 'a.txt', file_data: textUrl },
      { type: 'input_file', file_id: notes.id },
      { type: 'input_file', file_url: `${site.url}/dir/b.txt` },
    ]
    const file = (filename: string) => ({ type: 'file', file: { filename, file_data: textUrl } })
    const seen = [
      { type: 'text', text: 'Look: ' },
      { type: 'image_url', image_url: { url: pngUrl, detail: 'low' } },
      { type: 'image_url', image_url: { url: pngUrl, detail: 'auto' } },
      { type: 'image_url', image_url: { url: pngUrl, detail: 'high' } },
      file('a.txt'),
      file('notes.txt'),
      file('b.txt'),
    ]
    for (const answer of ['Seen', 'Again', 'Third']) service.model.reply({ text: answer })
    const first = await client.responses.create({ model: 'scripted', input: [{ role: 'user', content }] })
    expect(shown()).toEqual([seen])
    const items = await client.responses.inputItems.list(first.id)
    expect(items.data).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look: ' },
          { type: 'input_image', detail: 'low' },
          { type: 'input_image', detail: 'auto' },
          { type: 'input_image', detail: 'high' },
          { type: 'input_file', filename: 'a.txt' },
          { type: 'input_file', filename: 'notes.txt' },
          { type: 'input_file', filename: 'b.txt' },
        ],
      },
    ])
    // The next response goes on in the same thread: nothing is missing when the first is deleted.
    const second = await client.responses.create({ model: 'scripted', input: 'And?', previous_response_id: first.id })
    expect(shown()).toEqual([seen, 'Seen', 'And?'])
    expect(await attachmentsOf(owner.userId)).toBe(6)
    // A branch has its own copies.
    service.model.reply({ text: 'Seen' })
    const branch = await client.responses.create({ model: 'scripted', input: 'Or?', previous_response_id: first.id })
    expect(shown()).toEqual([seen, 'Seen', 'Or?'])
    expect(await attachmentsOf(owner.userId)).toBe(12)
    await client.responses.delete(first.id)
    await client.responses.delete(branch.id)
    expect(await attachmentsOf(owner.userId)).toBe(6)
    await client.responses.create({ model: 'scripted', input: 'And?', previous_response_id: second.id })
    expect(shown()?.[0]).toEqual(seen)
    await site.close()
  })

  it('are results of functions, which the model is shown, and which go on', async () => {
    const { client, owner } = await v1Client(service)
    const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
    service.model.reply({ toolCalls: [{ id: 'call-look', name: 'look', arguments: {} }] })
    const first = await client.responses.create({ model: 'scripted', input: 'Look', tools })
    const output = [
      { type: 'input_text' as const, text: 'This: ' },
      { type: 'input_image' as const, image_url: pngUrl, detail: 'auto' as const },
      { type: 'input_file' as const, file_data: textUrl, filename: 'notes.txt' },
    ]
    service.model.reply({ text: 'Seen' })
    const second = await client.responses.create({
      model: 'scripted',
      previous_response_id: first.id,
      tools,
      input: [{ type: 'function_call_output', call_id: 'call-look', output }],
    })
    const [result, picture] = shown()?.slice(-2) ?? []
    expect(result).toBe('This: ')
    expect(picture).toMatchObject([
      { type: 'text' },
      { type: 'image_url', image_url: { url: pngUrl } },
      { type: 'file', file: { filename: 'notes.txt' } },
    ])
    expect(await attachmentsOf(owner.userId)).toBe(2)
    const items = await client.responses.inputItems.list(second.id)
    expect(items.data).toMatchObject([
      {
        type: 'function_call_output',
        output: [{ type: 'input_text' }, { type: 'input_image' }, { type: 'input_file', filename: 'notes.txt' }],
      },
    ])
    service.model.reply({ text: 'Yes' })
    await client.responses.create({ model: 'scripted', previous_response_id: second.id, input: 'Sure?', tools })
    expect(JSON.stringify(shown())).toContain(pngUrl)
    const bad = [{ type: 'input_image' as const, image_url: 'http://10.0.0.1/a.png', detail: 'auto' as const }]
    const refusal = refusalOf(
      client.responses.create({
        model: 'scripted',
        previous_response_id: first.id,
        tools,
        input: [{ type: 'function_call_output', call_id: 'call-look', output: bad }],
      }),
    )
    expect(await refusal).toMatchObject({ status: 400, param: 'input[0].output[0].image_url' })
  })

  it('are items of conversations, and are deleted with their item', async () => {
    const { client, owner } = await v1Client(service)
    const image = { type: 'input_image' as const, image_url: pngUrl, detail: 'auto' as const }
    const content = [image, { type: 'input_text' as const, text: 'See' }]
    const { id } = await client.conversations.create({ items: [{ role: 'user', content }] })
    service.model.reply({ text: 'Seen' })
    const response = await client.responses.create({
      model: 'scripted',
      conversation: id,
      input: [{ role: 'user', content: [image] }],
    })
    const picture = { type: 'image_url', image_url: { url: pngUrl, detail: 'auto' } }
    expect(shown()).toEqual([[picture, { type: 'text', text: 'See' }], [picture]])
    expect(await attachmentsOf(owner.userId)).toBe(2)
    const [first, second] = (await client.conversations.items.list(id, { order: 'asc' })).data
    // An item that another response names brings its image along.
    service.model.reply({ text: 'Again' })
    await client.responses.create({
      model: 'scripted',
      store: false,
      input: [
        { type: 'item_reference', id: second?.id ?? '' },
        { role: 'user', content: 'Go on' },
      ],
    })
    expect(shown()).toEqual([[picture], 'Go on'])
    for (const item of [first, second]) await client.conversations.items.delete(item?.id ?? '', { conversation_id: id })
    expect(await service.collections.attachments.countDocuments({ thread_id: id.slice('conv_'.length) })).toBe(0)
    expect(response.output_text).toBe('Seen')
  })

  it('are limited in number and size', async () => {
    const { client, owner } = await v1Client(service)
    const refused = async (content: OpenAI.Responses.ResponseInputContent[]) => {
      const error = await refusalOf(client.responses.create({ model: 'scripted', input: [{ role: 'user', content }] }))
      return [error.status, error.param]
    }
    const image = (url: string) => ({ type: 'input_image' as const, image_url: url, detail: 'auto' as const })
    expect(await refused(Array.from({ length: 33 }, () => image(pngUrl)))).toEqual([400, 'input[0]'])
    const large = `data:text/plain;base64,${Buffer.alloc(8 * 1024 * 1024 + 1, 'x').toString('base64')}`
    const file = { type: 'input_file' as const, filename: 'a.txt', file_data: large }
    expect(await refused([file])).toEqual([400, 'input[0].content[0].file_data'])
    expect(await refused([image('data:image/png;base64,bm90IGFuIGltYWdl')])).toEqual([
      400,
      'input[0].content[0].image_url',
    ])
    for (const url of ['http://169.254.169.254/latest', 'file:///etc/passwd', 'http://[::1]/'])
      expect(await refused([image(url)])).toEqual([400, 'input[0].content[0].image_url'])
    expect(await attachmentsOf(owner.userId)).toBe(0)
  })
})
