import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chunksOf } from '../../domain/records/chunk-group.ts'
import { type Extractor, createExtractor } from '../../infra/extract/extractor.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { oddFiles } from '../support/odd-text.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const files = oddFiles()

describe('a document with line ends, control characters, lone surrogates and private-use characters', () => {
  let extractor: Extractor
  beforeAll(() => {
    extractor = createExtractor({ memoryMb: 1024, cpuSeconds: 120, timeoutSeconds: 300, idleReaders: 1 })
  })
  afterAll(() => extractor.close())

  it.each(files)('is read completely: $name', async ({ name, content, words, exact }) => {
    const file = { name, size: content.length, owner: 'tests', content: () => Readable.from([content]) }
    let text = ''
    for await (const chunk of extractor.extract(file)) text += `${chunk.text}\n`
    expect(missingWords(text, words)).toEqual([])
    expect(exact.filter((part) => !text.includes(part)).map((part) => JSON.stringify(part))).toEqual([])
    expect(text.isWellFormed()).toBe(true)
    expect(text).not.toContain('\0')
  })
})

/** Words that are not in the text, as whole words. */
function missingWords(text: string, words: string[]): string[] {
  const found = new Set(text.match(/left\d+|right\d+/g))
  return words.filter((word) => !found.has(word))
}

describe('an upload of such documents, one of each format', () => {
  const service = useSharedService()

  it('is stored unchanged, embedded and found', async () => {
    const { upload, assistantId } = await knowledgeClient(await insertUser(service))
    const { status, body } = await upload(
      files.map(({ name, content }) => ({ name: `left\u2028\u0085right ${name}`, content: Uint8Array.from(content) })),
    )
    expect(status).toBe(200)
    expect(body.files.map(({ name, metadata }: any) => [name, metadata.status, metadata.error])).toEqual(
      // Line ends and control characters are taken out of names.
      files.map(({ name }) => [`leftright ${name}`, 'ready', undefined]),
    )
    for (const [index, { id, metadata }] of body.files.entries()) {
      const groups = await service.collections.chunks.find({ file_id: id }).sort({ position: 1 }).lean()
      const chunks = groups.flatMap(chunksOf)
      expect(chunks).toHaveLength(metadata.chunks)
      const text = chunks.map((chunk) => chunk.text).join('\n')
      expect(missingWords(text, files[index]?.words ?? [])).toEqual([])
    }
    const total = body.files.reduce((sum: number, { metadata }: any) => sum + metadata.chunks, 0)
    expect(await service.api.infra.knowledge.vectors.count(assistantId)).toBe(total)
  })
})
