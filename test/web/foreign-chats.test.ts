import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { archiveOf } from '../../web/src/lib/foreign-chats/archive.ts'
import { limits, nothingLeftOut } from '../../web/src/lib/foreign-chats/chat.ts'
import { picturesIn, readPictures } from '../../web/src/lib/foreign-chats/pictures.ts'
import { readExport } from '../../web/src/lib/foreign-chats/read.ts'
import { asVersions } from '../../web/src/lib/foreign-chats/versions.ts'
import { entriesOf, isZip, textsIn } from '../../web/src/lib/foreign-chats/zip.ts'
import { readVersions } from '../../web/src/lib/versions.ts'
import { linesIn } from '../support/archives.ts'
import { png } from '../support/png.ts'
import { zip } from '../support/zip.ts'
import { chatGptExport, claudeExport, libreChatExport } from './foreign-exports.ts'

function read(value: unknown) {
  const left = nothingLeftOut()
  const { source, chats = [] } = readExport(value, left) ?? {}
  const versions = chats.map((chat) => asVersions(chat, left).map(({ message }) => message))
  const shown = versions.map((messages) => readVersions(messages).line.map(({ data: { content } }) => content))
  return { source, chats, versions, shown, left }
}

const tarOf = async (parts: ReturnType<typeof archiveOf>) => Buffer.from(await new Blob([...parts]).arrayBuffer())

it('reads chats of ChatGPT: the branch that was shown, and the others as versions', () => {
  const { source, chats, versions, shown, left } = read(chatGptExport)
  expect(source).toBe('chatgpt')
  expect(chats.map(({ title, createdAt, isArchived }) => [title, createdAt, isArchived])).toEqual([
    ['Berths', '2025-03-01T08:00:00.000Z', false],
    ['Old', '2024-01-01T00:00:00.000Z', true],
  ])
  // Neither the system's message nor the call of the tool is shown, nor what came back; marks of citations are gone.
  expect(shown[0]).toEqual(['What does a berth cost?', 'It costs 48 marks.', 'And a crane?', 'A crane costs 80 marks.'])
  expect(shown[1]).toEqual(['Hello', 'Good day.'])
  const tree = readVersions(versions[0] ?? [])
  const first = tree.line[0]?.data.id ?? ''
  // Another answer to the first question is a version of that question.
  expect(tree.of(first).ids).toHaveLength(2)
  const other = readVersions(versions[0] ?? [], tree.endOf(tree.of(first).ids[0] ?? ''))
  expect(other.line.map(({ data }) => data.content)).toEqual(['What does a berth cost?', 'I do not know.'])
  // Pictures are named in the report; a chat without messages is, too.
  expect(left).toEqual({ chats: 1, files: 2, branches: 0, cut: 0 })
})

it('reads chats of Claude, with the texts of attachments, with and without parents', () => {
  const { source, chats, shown, versions, left } = read(claudeExport)
  expect(source).toBe('claude')
  expect(chats.map(({ title }) => title)).toEqual(['Tides', ''])
  expect(shown[0]).toEqual(['When is high water?\n\ntides.txt\n\n````\n```06:12```\n````', 'At 6:12, says the table.'])
  expect(shown[1]).toEqual(['Draft a letter', 'Dear …', 'Shorter'])
  // An edited question has two versions.
  const tree = readVersions(versions[1] ?? [])
  expect(tree.of(tree.line[2]?.data.id ?? '').ids).toHaveLength(2)
  expect(left.files).toBe(1)
})

it('reads chats of LibreChat, in a list or in trees', () => {
  for (const chat of libreChatExport) {
    const { source, shown, versions } = read(chat)
    expect(source).toBe('librechat')
    expect(shown[0]).toEqual(['Name a knot', 'A bowline.'])
    const tree = readVersions(versions[0] ?? [])
    expect(tree.of(tree.line[0]?.data.id ?? '').ids).toHaveLength(2)
  }
})

it('refuses what it does not know, and is not led astray by circles and masses', () => {
  expect(readExport({ anything: 1 }, nothingLeftOut())).toBeUndefined()
  expect(readExport([], nothingLeftOut())).toBeUndefined()
  expect(readExport('text', nothingLeftOut())).toBeUndefined()
  const node = (id: string, parent: string, role = 'user') => ({
    id,
    parent,
    children: [],
    message: { author: { role }, content: { content_type: 'text', parts: [`says ${id}`] } },
  })
  const circle = { title: 'x', mapping: { a: node('a', 'b'), b: node('b', 'a') }, current_node: 'a' }
  expect(read([circle]).shown[0] ?? []).toEqual([])
  // A long chat does not overflow, and a wide one keeps its newest branches.
  const long = Object.fromEntries(
    Array.from({ length: 15_000 }, (_, n) => [`n${n}`, node(`n${n}`, `n${n - 1}`, n % 2 ? 'assistant' : 'user')]),
  )
  expect(read([{ mapping: long, current_node: 'n14999' }]).versions[0]).toHaveLength(limits.messages)
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`w${n}`, node(`w${n}`, '')]))
  const { versions, left } = read([{ mapping: wide, current_node: 'w499' }])
  expect(versions[0]).toHaveLength(limits.branches + 1)
  expect(left.branches).toBe(500 - limits.branches - 1)
  const text = 'x'.repeat(limits.textLength + 1)
  const cutOne = {
    mapping: {
      a: { ...node('a', ''), message: { author: { role: 'user' }, content: { content_type: 'text', parts: [text] } } },
    },
  }
  expect(read([cutOne]).left.cut).toBe(1)
})

const chatGptNode = (id: string, parent: string | null, role: string, text = `says ${id}`) => ({
  id,
  parent,
  children: [],
  message: { author: { role }, content: { content_type: 'text', parts: [text] } },
})

it('takes over branches below any message without another copy of what is there', () => {
  const nodes = [
    chatGptNode('q', null, 'user'),
    chatGptNode('a', 'q', 'assistant'),
    chatGptNode('b', 'q', 'assistant'),
    chatGptNode('c', 'q', 'assistant'),
    // Below an answer of which a copy of the question is not the last.
    chatGptNode('q2', 'a', 'user'),
    // The name of a copy is taken.
    chatGptNode('q.2', 'a', 'user'),
  ]
  const mapping = Object.fromEntries(nodes.map((node) => [node.id, node]))
  const { versions, shown } = read([{ mapping, current_node: 'q.2' }])
  expect(shown[0]).toEqual(['says q', 'says a', 'says q.2'])
  const ids = versions[0]?.map(({ data }) => data.id) ?? []
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(8)
})

it('shows answers to a question that is not there as versions of one that is empty', () => {
  const nodes = [
    // A picture alone has no text.
    chatGptNode('q', null, 'user', ''),
    chatGptNode('a', 'q', 'assistant'),
    chatGptNode('b', 'q', 'assistant'),
  ]
  const mapping = Object.fromEntries(nodes.map((node) => [node.id, node]))
  const { versions, shown } = read([{ mapping, current_node: 'b' }])
  expect(shown[0]).toEqual(['…', 'says b'])
  expect(versions[0]?.map(({ data }) => data.content)).toEqual(['says a', '…', 'says b'])
})

it('takes time in proportion to the file, whatever is in it', () => {
  const started = performance.now()
  // A long branch with a side branch at each message, and a shown message that none of these leads through.
  const comb = Array.from({ length: 10_000 }, (_, n) => [
    [`n${n}`, chatGptNode(`n${n}`, n === 0 ? null : `n${n - 1}`, n % 2 ? 'assistant' : 'user')],
    [`side${n}`, chatGptNode(`side${n}`, `n${n}`, 'assistant')],
  ]).flat()
  for (const current_node of ['n0', 'n9999', 'other']) {
    const { versions } = read([{ mapping: Object.fromEntries(comb), current_node }])
    expect(versions[0]?.length).toBeLessThanOrEqual(limits.messages)
  }
  // More messages than a chat may have, and each in the one before it.
  const many = { conversationId: 'x', messages: Array.from({ length: 500_000 }, () => ({})) }
  expect(read([many]).chats).toEqual([])
  const deep = `${'{"text":"x","children":['.repeat(100_000)}${']}'.repeat(100_000)}`
  expect(read(JSON.parse(`{"conversationId":"x","messages":[${deep}]}`)).chats).toEqual([])
  // Marks that do not end, and many runs of backticks.
  const marks = { mapping: { a: chatGptNode('a', null, 'user', '\ue200'.repeat(2_000_000)) } }
  expect(read([marks]).left.cut).toBe(1)
  const attachments = [{ file_name: 'x', extracted_content: '` '.repeat(500_000) }]
  expect(read([{ uuid: 'x', chat_messages: [{ uuid: 'm', sender: 'human', attachments }] }]).left.cut).toBe(1)
  // Ids that begin alike.
  const alike = Array.from({ length: 20_000 }, (_, n) => chatGptNode(`${'x'.repeat(100)}${n}`, null, 'user'))
  const mapping = Object.fromEntries(alike.map((node) => [node.id, node]))
  expect(read([{ mapping }]).versions[0]).toHaveLength(limits.branches + 1)
  expect(performance.now() - started).toBeLessThan(20_000)
})

it('reads names of members that objects have of themselves as any others', () => {
  const text = `[{"__proto__":{"is_archived":true},"constructor":1,"mapping":{
    "__proto__":{"parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Hi"]}}},
    "constructor":{"parent":"__proto__","message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Ho"]}}},
    "toString":{"parent":"hasOwnProperty","message":{"__proto__":{"author":{"role":"user"}}}}}}]`
  const { shown, chats } = read(JSON.parse(text))
  expect(shown[0]).toEqual(['Hi', 'Ho'])
  expect(chats[0]?.isArchived).toBe(false)
  expect(Object.keys(Object.prototype)).toEqual([])
})

it('writes no line of an archive that the service would refuse', async () => {
  const mapping = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [
      `n${n}`,
      chatGptNode(`n${n}`, `n${n - 1}`, n % 2 ? 'assistant' : 'user', '\u0001'.repeat(400_000)),
    ]),
  )
  const left = nothingLeftOut()
  const { chats = [] } = readExport([{ mapping }], left) ?? {}
  const names = { project: 'ChatGPT', assistant: 'Assistant', untitled: 'Untitled' }
  const tar = await tarOf(archiveOf(chats, 'chatgpt', names, left))
  const entries = linesIn(tar, 'messages')
  expect(entries.flatMap(({ messages }) => messages)).toHaveLength(12)
  expect(Math.max(...entries.map((entry) => JSON.stringify(entry).length))).toBeLessThan(16_000_000)
})

it('writes an archive of an account', async () => {
  const left = nothingLeftOut()
  const { chats = [], source = 'claude' } = readExport(chatGptExport, left) ?? {}
  const names = { project: 'ChatGPT', assistant: 'Assistant', untitled: 'Untitled' }
  const tar = await tarOf(archiveOf(chats, source, names, left))
  expect(tar.length % 512).toBe(0)
  expect(gzipSync(tar).length).toBeGreaterThan(100)
  expect(linesIn(tar, 'projects')).toMatchObject([{ name: 'ChatGPT' }])
  expect(linesIn(tar, 'threads').map(({ name, archived }) => [name, archived])).toEqual([
    ['Berths', undefined],
    ['Old', true],
  ])
  expect(linesIn(tar, 'messages').flatMap(({ messages }) => messages)).toHaveLength(8)
})

it('takes pictures of questions over once for each chat, and counts what is none or too large', async () => {
  const picture = (id: string) => ({ content_type: 'image_asset_pointer', asset_pointer: `file-service://${id}` })
  const asks = (...parts: unknown[]) => {
    const node = { id: 'q', parent: null, children: [] }
    return { ...node, message: { author: { role: 'user' }, content: { content_type: 'multimodal_text', parts } } }
  }
  const chat = (id: string, ...parts: unknown[]) => ({ id, mapping: { q: asks(...parts) }, current_node: 'q' })
  const large = Buffer.concat([png, Buffer.alloc(limits.pictureBytes)])
  const archive = zip([
    { name: 'export/file-Ab1-the pier.png', data: png },
    { name: 'file-Text1.txt', data: Buffer.from('no picture') },
    { name: 'user-1/file_Large1-sanitized.png', data: large },
    { name: 'photo.png', data: png },
  ])
  const file = new Blob([new Uint8Array(archive)])
  const entries = picturesIn(await entriesOf(file))
  expect([...entries.keys()]).toEqual(['file-Ab1', 'file-Text1', 'file_Large1'])
  const left = nothingLeftOut()
  const given = [
    chat('one', picture('file-Ab1'), 'What is it?', picture('file-Ab1'), picture('file-Text1')),
    chat('two', picture('file-Ab1')),
    chat('three', picture('file_Large1')),
    chat('four', picture('file-Gone'), picture('../file-Ab1'), { content_type: 'image_asset_pointer' }),
  ]
  const { chats = [] } = readExport(given, left, (id) => entries.has(id)) ?? {}
  const pictures = await readPictures(file, entries, chats, left)
  expect(left).toMatchObject({ files: 5, chats: 1 })
  const names = { project: 'ChatGPT', assistant: 'Assistant', untitled: 'Untitled' }
  const tar = await tarOf(archiveOf(chats, 'chatgpt', names, left, pictures))
  const messages = linesIn(tar, 'messages').flatMap((line) => line.messages)
  expect(messages.map(({ data }) => [data.content, data.parts?.map(({ type }: { type: string }) => type)])).toEqual([
    ['What is it?', ['text', 'image', 'image']],
    ['', ['image']],
    ['…', undefined],
  ])
  expect(linesIn(tar, 'attachments')).toMatchObject([
    { attachment_id: 'chatgpt-one-file-Ab1', thread_id: 'chatgpt-one', size: png.length, path: 'attachments/1' },
    { attachment_id: 'chatgpt-two-file-Ab1', thread_id: 'chatgpt-two', size: png.length, path: 'attachments/2' },
  ])
  expect(tar.length % 512).toBe(0)
})

it('reads the chats out of an archive, and nothing else of it', async () => {
  const file = (name: string, text: string) => ({ name, data: Buffer.from(text) })
  const archive = zip([file('b/conversations.json', '["b"]'), file('photo.png', 'x'), file('a.json', '["a"]')])
  const read = async (bytes: Buffer, names = /\.json$/, most = 100) => {
    const file = new Blob([new Uint8Array(bytes)])
    const entries = (await entriesOf(file)).filter(({ name }) => names.test(name))
    return textsIn(file, entries, most)
  }
  expect(await isZip(new Blob([new Uint8Array(archive)]))).toBe(true)
  expect(await isZip(new Blob(['[{"mapping":{}}]                    ']))).toBe(false)
  expect(await read(archive)).toEqual(['["a"]', '["b"]'])
  // Whatever follows the end of the archive.
  expect(await read(Buffer.concat([archive, Buffer.alloc(200)]), /conversations/)).toEqual(['["b"]'])
  await expect(read(archive, /\.json$/, 9)).rejects.toThrow(RangeError)
  // A file that says less of itself than it holds is not read further than allowed.
  const bomb = zip([file('conversations.json', ' '.repeat(10_000_000))])
  bomb.writeUInt32LE(5, bomb.indexOf('PK\x01\x02', 0, 'latin1') + 24)
  await expect(read(bomb, /conversations/, 1000)).rejects.toThrow(RangeError)
  for (const damaged of [
    archive.subarray(0, 60),
    archive.subarray(0, -30),
    Buffer.from('PK\x03\x04 and no more of an archive'),
  ])
    await expect(read(damaged)).rejects.toThrow()
})
