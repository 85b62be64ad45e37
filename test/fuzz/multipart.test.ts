import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import multipart from '@fastify/multipart'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filePartsOf } from '../../api/routes/files/parts.ts'
import { AppError } from '../../domain/errors.ts'
import { brokenOff } from '../../services/knowledge/upload.ts'
import { cutAt, cuts, oddText, sent } from './pieces.ts'
import { cases } from './settings.ts'

const boundary = 'a-boundary-of-the-test'
const utf8 = new TextEncoder()

/** Bytes that look like the end of a part, among others. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .constantFrom('\r\n', '--', `\r\n--${boundary.slice(0, -1)}`, `--${boundary}`, '\r\n\r\n', '\0')
        .map((text) => utf8.encode(text)),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => Buffer.concat(pieces))
  .filter((bytes) => !bytes.includes(`--${boundary}`))
const part = fc.record({
  name: fc.string({ maxLength: 20 }),
  // The parser refuses fields named as members of every object, such as toString.
  field: fc.string({ maxLength: 10 }).filter((name) => !(name in Object.prototype)),
  content,
  isFile: fc.boolean(),
})

function bodyOf(parts: { name: string; field: string; content: Uint8Array; isFile: boolean }[]): Buffer {
  const quoted = (text: string) => text.replaceAll(/[\r\n"\\]/g, '_')
  return Buffer.concat([
    ...parts.flatMap(({ name, field, content: bytes, isFile }) => [
      utf8.encode(
        `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(field)}"` +
          `${isFile ? `; filename="${quoted(name)}"` : ''}\r\n${isFile ? 'content-type: text/plain\r\n' : ''}\r\n`,
      ),
      bytes,
      utf8.encode('\r\n'),
    ]),
    utf8.encode(`--${boundary}--\r\n`),
  ])
}

/** As the service reads a file: one that breaks off is a bad request. */
const wholeOf = (bytes: Readable) =>
  buffer(bytes).catch((error: unknown) => {
    throw brokenOff(error)
  })

describe('the multipart body of an upload', () => {
  let app: FastifyInstance
  beforeAll(async () => {
    app = Fastify()
    await app.register(multipart)
    app.post('/', async (request) => {
      const files: { name: string; content: string }[] = []
      for await (const { name, content: bytes } of filePartsOf(request))
        files.push({ name, content: (await wholeOf(bytes)).toString('base64') })
      return { files }
    })
    app.setErrorHandler((error, _request, reply) =>
      reply.code(400).send({ code: error instanceof AppError ? error.code : `unexpected: ${String(error)}` }),
    )
    await app.ready()
  })
  afterAll(() => app.close())

  const send = async (pieces: Uint8Array[]) => {
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const answer = await app.inject({ method: 'POST', url: '/', headers, payload: Readable.from(pieces) })
    return answer.json<{ files?: { name: string; content: string }[]; code?: string }>()
  }

  it('returns every file, wherever the connection splits it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), cuts, async (parts, places) => {
        const files = parts.filter(({ isFile }) => isFile)
        const answer = await send(cutAt(bodyOf(parts), places))
        const contents = files.map((file) => Buffer.from(file.content).toString('base64'))
        expect(answer).toMatchObject(
          files.length === 0 ? { code: 'invalid_input' } : { files: contents.map((bytes) => ({ content: bytes })) },
        )
      }),
      cases(),
    )
  })

  it('is read or answered 400 when it is damaged, and always ends', async () => {
    const damage = fc.array(
      fc.record({
        at: fc.nat(2000),
        remove: fc.nat(30),
        insert: fc.oneof(
          fc.uint8Array({ maxLength: 8 }),
          oddText.map((text) => utf8.encode(sent(text))),
        ),
      }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 3 }),
        damage,
        fc.boolean(),
        cuts,
        async (parts, changes, isCutOff, places) => {
          let body: Buffer = bodyOf(parts)
          for (const { at, remove, insert } of changes) {
            const place = at % (body.length + 1)
            body = Buffer.concat([body.subarray(0, place), insert, body.subarray(place + remove)])
          }
          if (isCutOff) body = body.subarray(0, Math.floor(body.length / 2))
          const { files, code } = await send(cutAt(body, places))
          expect(files === undefined ? ['bad_request', 'invalid_input'].includes(String(code)) : true, code).toBe(true)
          expect(files?.filter(({ name }) => name === '') ?? []).toEqual([])
        },
      ),
      { ...cases(), interruptAfterTimeLimit: 50_000, markInterruptAsFailure: true },
    )
  })
})
