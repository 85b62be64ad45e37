import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadSettings } from '../../infra/config.ts'
import { parseLocation } from '../../infra/objects/location.ts'
import { createS3Requests } from '../../infra/objects/s3-requests.ts'
import { createS3Store, readObject } from '../../infra/objects/s3-store.ts'
import { uploadTo } from '../../infra/objects/s3-upload.ts'
import { parseXmlAnswer } from '../../infra/objects/xml-answer.ts'
import { startHttpServer } from '../support/http-server.ts'
import { listOf, locationOf, testKey } from '../support/object-location.ts'

describe('an object store that fails', () => {
  let close = async () => {}
  afterEach(() => close())

  type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => unknown
  async function storeThat(answer: Handler) {
    let count = 0
    const server = await startHttpServer(async (request, response) => {
      await answer(request, response, ++count)
      request.resume()
    })
    close = server.close
    const location = locationOf(`s3://bucket/p?endpoint=${encodeURIComponent(server.url)}`)
    const requests = createS3Requests(location, testKey, fetch)
    return { store: createS3Store(location, testKey, fetch), requests, count: () => count }
  }
  const errorOf = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>secret</Message></Error>`
  async function put(store: Awaited<ReturnType<typeof storeThat>>['store']) {
    const upload = store.upload('one')
    await upload.add(Buffer.from('bytes'))
    await upload.complete()
  }

  it('gets the length of each body before it, also of none, and all bytes once more after a failure', async () => {
    const got: { length: unknown; chunked: unknown; bytes: Buffer }[] = []
    const { store } = await storeThat(async (request, response, count) => {
      const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
      got.push({ length, chunked, bytes: await buffer(request) })
      response.writeHead(count === 1 ? 503 : 200, { etag: '"1"', 'retry-after': '0' }).end()
    })
    for (const bytes of [randomBytes(1_000_000), Buffer.alloc(0)]) {
      const upload = store.upload('one')
      await upload.add(bytes)
      await upload.complete()
      expect(got.at(-1)).toEqual({ length: String(bytes.length), chunked: undefined, bytes })
    }
    expect(got).toHaveLength(3)
  })

  it('is asked again after SlowDown, no earlier than it says', async () => {
    const times: number[] = []
    const { store } = await storeThat((_request, response, count) => {
      times.push(performance.now())
      if (count === 1) response.writeHead(503, { 'retry-after': '1' }).end(errorOf('SlowDown'))
      else response.writeHead(200, { etag: '"1"' }).end()
    })
    await put(store)
    expect(times).toHaveLength(2)
    // The clock of the timer may be a millisecond ahead.
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990)
  })

  it('is given up after five attempts', async () => {
    const { store, count } = await storeThat((_request, response) =>
      response.writeHead(503, { 'retry-after': '0' }).end(errorOf('SlowDown')),
    )
    await expect(put(store)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 })
    expect(count()).toBe(5)
  })

  it('with another clock gets requests of its own time', async () => {
    const ahead = 3_600_000
    const { store, count } = await storeThat((request, response) => {
      const given = String(request.headers['x-amz-date'])
      const signedAt = Date.parse(given.replace(/(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)/, '$1-$2-$3:$4:$5'))
      const date = new Date(Date.now() + ahead)
      const isRight = Math.abs(signedAt - date.getTime()) < 60_000
      response.writeHead(isRight ? 200 : 403, { date: date.toUTCString() })
      response.end(isRight ? '' : errorOf('RequestTimeTooSkewed'))
    })
    await put(store)
    await put(store)
    expect(count()).toBe(3)
  })

  it('whose clock does not agree with itself is named', async () => {
    const { store } = await storeThat((_request, response) =>
      response.writeHead(403).end(errorOf('RequestTimeTooSkewed')),
    )
    await expect(put(store)).rejects.toThrow('The clocks of this machine and of the object store differ.')
  })

  it('that refuses is not asked again, and the error has neither its text nor our key', async () => {
    const { store, count } = await storeThat((_request, response) =>
      response.writeHead(403).end(errorOf('AccessDenied')),
    )
    const error: unknown = await put(store).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ message: 'The object store refuses requests (403 AccessDenied).' })
    expect(inspect(error, { depth: 10 })).not.toMatch(new RegExp(`${testKey.secretAccessKey}|secret`))
    expect(count()).toBe(1)
  })

  it('that sends truncated bytes is asked for the rest', async () => {
    const bytes = randomBytes(3_000_000)
    const { store, count } = await storeThat((request, response, made) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1])
      const length = bytes.length - from
      response.writeHead(206, {
        'content-length': length,
        'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
      })
      if (made > 2) return void response.end(bytes.subarray(from))
      response.write(bytes.subarray(from, from + 1_000_000), () => response.destroy())
    })
    expect((await buffer(store.read('one', bytes.length))).equals(bytes)).toBe(true)
    expect(count()).toBe(3)
  })

  it('that sends one byte at a time is given up', async () => {
    const { store, count } = await storeThat((request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1])
      response.writeHead(206, { 'content-range': `bytes ${from}-999999/1000000`, 'retry-after': '0' })
      response.write('x', () => response.destroy())
    })
    await expect(buffer(store.read('one', 1_000_000))).rejects.toMatchObject({ code: 'unavailable' })
    expect(count()).toBeLessThan(10)
  })

  it('that never ends an answer is left', async () => {
    const { store } = await storeThat((request, response) => {
      const isList = request.url?.includes('prefix')
      const more = () => {
        if (!response.destroyed) response.write(randomBytes(1_000_000).toString('base64'), more)
      }
      response.writeHead(200, isList ? {} : { 'content-length': '1000' })
      if (isList) response.write('<List>')
      more()
    })
    await expect(Array.fromAsync(store.everything('x'))).rejects.toThrow('too long')
  })

  it('that repeats a page of a list for ever is left', async () => {
    const page = '<IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>'
    const { store, count } = await storeThat((request, response) => response.end(listOf(request.url, page)))
    await expect(Array.fromAsync(store.everything('x'))).rejects.toThrow('does not end its list')
    expect(count()).toBe(2)
  })

  it('is told apart from another creator when the answer to a creation is lost', async () => {
    let stored: Buffer | undefined
    const { store } = await storeThat(async (request, response) => {
      const bytes = await buffer(request)
      if (request.method === 'GET') {
        const length = stored?.length ?? 0
        return void response.writeHead(206, { 'content-range': `bytes 0-${length - 1}/${length}` }).end(stored)
      }
      expect(request.headers['if-none-match']).toBe('*')
      if (stored !== undefined) return void response.writeHead(412).end(errorOf('PreconditionFailed'))
      stored = bytes
      response.destroy()
    })
    expect(await store.create('one', Buffer.from('mine'))).toBe(true)
    expect(await store.create('one', Buffer.from('other'))).toBe(false)
    expect(await store.create('one', Buffer.from('othe'))).toBe(false)
  })

  it('that keeps what was deleted is an error', async () => {
    const { store } = await storeThat((request, response) => {
      if (request.method === 'DELETE') return void response.writeHead(204).end()
      const version =
        '<Version><Key>p/x/1</Key><VersionId>v</VersionId><LastModified>2026-11-26T00:00:00Z</LastModified></Version>'
      response.end(listOf(request.url, request.url?.includes('versions') ? version : ''))
    })
    await expect(store.remove('x/')).rejects.toMatchObject({ message: expect.stringContaining('still has 1 objects') })
  })

  it('that answers something else than a list has removed nothing', async () => {
    const answers = ['', '{}', '<html><body>Welcome</body></html>', '<ListVersionsResult><Version><Key>p/x/1</Key>']
    const { store } = await storeThat((request, response) => {
      const index = Number(/prefix=p%2F(\d)/.exec(request.url ?? '')?.[1])
      response.end(answers[index])
    })
    const removals = answers.map((_answer, index) =>
      expect(store.remove(`${index}/`)).rejects.toMatchObject({ code: 'unavailable' }),
    )
    await Promise.all(removals)
  })

  it('that stores parts but answers their completion with something else has not stored the object', async () => {
    const { store } = await storeThat((request, response) => {
      const isBegin = request.url?.includes('uploads=')
      response.setHeader('etag', '"1"').end(isBegin ? '<I><UploadId>u</UploadId></I>' : '<html></html>')
    })
    const upload = store.upload('one')
    for (let part = 0; part < 2; part++) await upload.add(Buffer.from('bytes'))
    await expect(upload.complete()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('has ten minutes for the completion of an upload', async () => {
    const asked: { method: string; answerMs?: number }[] = []
    const { requests } = await storeThat(() => undefined)
    const upload = uploadTo(
      {
        ...requests,
        async xml(given) {
          asked.push(given)
          return { root: given.root ?? '', members: { UploadId: 'u' }, items: [], headers: new Headers() }
        },
      },
      'one',
    )
    for (let part = 0; part < 2; part++) await upload.add(Buffer.from('bytes'))
    await upload.complete()
    expect(asked.map(({ method, answerMs }) => [method, answerMs])).toEqual([
      ['POST', undefined],
      ['PUT', undefined],
      ['PUT', undefined],
      ['POST', 600_000],
    ])
  })

  it('is asked again within the time that the request has', async () => {
    let minutes = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => minutes * 60_000)
    const requests = createS3Requests(locationOf('s3://bucket'), testKey, async () => {
      minutes += 1
      return new Response('', { status: 503, headers: { 'retry-after': '0' } })
    })
    try {
      await expect(requests.xml({ method: 'GET', answerMs: 150_000 })).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      now.mockRestore()
    }
    expect(minutes).toBe(3)
  })

  it('that sends much and then nothing is asked for the rest soon, and left when the reader goes', async () => {
    const bytes = randomBytes(3_000_000)
    let left = Promise.withResolvers<void>()
    const { requests, count } = await storeThat((request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1])
      response.writeHead(206, { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
      response.write(bytes.subarray(from, from + 2_000_000))
      left = Promise.withResolvers()
      response.once('close', left.resolve)
    })
    const reading = () => readObject(requests, 'one', bytes.length, 0, 2000)
    const startedAt = performance.now()
    expect((await buffer(reading())).equals(bytes)).toBe(true)
    expect(count()).toBe(2)
    const gone = reading()
    for (let read = 0; read < 2_000_000;) read += (await gone.next()).value?.length ?? Infinity
    const waiting = gone.next()
    const returned = gone.return(undefined)
    await left.promise
    // With what came, an average of 16 KB a second allows two minutes.
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    await Promise.all([waiting, returned])
  })
})

describe('an answer in XML', () => {
  it('is read with its members and entries, without deeper levels', () => {
    const text = '<L xmlns="x"><N>a&amp;b</N><E><K>k</K><Owner><ID>o</ID></Owner></E><E><K>l</K></E><T>true</T></L>'
    expect(parseXmlAnswer(text)).toEqual({
      root: 'L',
      members: { N: 'a&b', T: 'true' },
      items: [
        { name: 'E', members: { K: 'k', Owner: '' } },
        { name: 'E', members: { K: 'l' } },
      ],
    })
  })

  it('is refused with too many entries or levels', () => {
    expect(() => parseXmlAnswer(`<L>${'<E><K/></E>'.repeat(3001)}</L>`)).toThrow('too many')
    expect(() => parseXmlAnswer('<a>'.repeat(9))).toThrow('too deep')
  })

  it.each(['<L><E><K>k</K></E>', '<L><T>true</T></L', '<L>'])('is refused when it breaks off: %s', (text) => {
    expect(() => parseXmlAnswer(text)).toThrow('breaks off')
  })
})

describe('BLOBS_URL', () => {
  it('names bucket, prefix, region, endpoint and style', () => {
    expect(parseLocation('s3://b.ucket/a/b/?region=eu-1&endpoint=http://h:9&style=virtual')).toEqual({
      bucket: 'b.ucket',
      prefix: 'a/b/',
      region: 'eu-1',
      endpoint: new URL('http://h:9'),
      isVirtualHost: true,
    })
    expect(parseLocation('s3://bucket')).toMatchObject({
      prefix: '',
      endpoint: new URL('https://s3.us-east-1.amazonaws.com'),
    })
  })

  it.each([
    'bucket',
    'https://bucket',
    's3://key:secret@bucket',
    's3://bucket?endpoint=ftp://x',
    's3://bucket?endpoint=https://x/y',
    's3://bucket?secret=1',
    's3://bucket/a b',
  ])('is refused: %s', (text) => {
    expect(parseLocation(text)).toBeTypeOf('string')
  })

  it('needs its key, and no problem repeats a value', () => {
    const env = { BLOBS_URL: 's3://key:hidden@bucket', S3_ACCESS_KEY_ID: 'hidden' }
    const problems = () => loadSettings(env)
    expect(problems).toThrow('BLOBS_URL must not hold credentials')
    expect(problems).toThrow('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together')
    expect(problems).not.toThrow('hidden')
  })
})
