import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { createBuiltInEmbedder } from '../../infra/built-in-model/embedder.ts'
import { encodeMessage } from '../../infra/built-in-model/graph.ts'
import { createQueue } from '../../infra/built-in-model/queue.ts'
import { createTokenizer } from '../../infra/built-in-model/tokenizer.ts'
import { prepareEmbeddingModel } from '../../local/services/embedding-model.ts'
import { eventually } from '../support/eventually.ts'

const cosine = (a: number[] = [], b: number[] = []) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

describe('the built-in model', () => {
  let folder: string
  let weights: string
  const clients: { close(): Promise<void> }[] = []
  const client = () => {
    const made = createBuiltInEmbedder(weights, folder)
    clients.push(made)
    return made
  }
  /** The processes that use our folder. */
  const processes = async () => {
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args='])
    const lines = stdout
      .split('\n')
      .filter((line) => line.includes('built-in-model/process.ts') && line.includes(folder))
    return lines.map((line) => Number.parseInt(line.trim(), 10))
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'model-'))
    weights = (await prepareEmbeddingModel(() => undefined)).value
  }, 300_000)
  afterAll(async () => {
    await Promise.all(clients.map((one) => one.close()))
    await rm(folder, { recursive: true, force: true })
  })

  it('starts one process for all, understands meaning across languages, and survives a kill', async () => {
    const one = client()
    const other = client()
    expect(await readdir(folder)).toEqual([])
    const texts = [
      'Der Hund schläft unter dem Tisch.',
      'The dog is sleeping under the table.',
      'Interest rates rose in March.',
    ]
    const [[german, english, rates], [again]] = await Promise.all([one.embed(texts), other.embed(texts.slice(0, 1))])
    expect(german).toHaveLength(384)
    expect(cosine(german, german)).toBeCloseTo(1, 4)
    expect(cosine(german, english)).toBeGreaterThan(cosine(german, rates) + 0.05)
    expect(again).toEqual(german)
    const [pid, ...more] = await processes()
    expect(more).toEqual([])
    // Elsewhere a process cannot be asked.
    const environment = process.platform === 'linux' ? await readFile(`/proc/${pid}/environ`, 'utf8') : 'PATH='
    expect(environment.match(/(?<=^|\0)[^=\0]+(?==)/g)).toEqual(['PATH'])
    process.kill(pid ?? 0, 'SIGKILL')
    expect((await one.embed(texts.slice(0, 1)))[0]).toEqual(german)
    expect(await processes()).not.toContain(pid)

    // A text of many thousand words is read in parts, and one with none has a vector, too.
    const [long, empty] = await one.embed(['The dog sleeps. '.repeat(2000), ''])
    expect(cosine(long, long)).toBeCloseTo(1, 4)
    expect(cosine(empty, empty)).toBeCloseTo(1, 4)
    const aborted = new AbortController()
    const given = one.embed(texts, aborted.signal)
    aborted.abort(new Error('given up'))
    await expect(given).rejects.toThrow('given up')

    await Promise.all([one.close(), other.close()])
    await eventually('the process to end', async () => (await processes()).length === 0)
  })

  it('says that it has no other lengths, and does not start with other weights', async () => {
    const one = client()
    const asked = one.embedRequest({ input: ['text'], dimensions: 512 })
    await expect(asked).rejects.toMatchObject({ type: 'model_refused_request', retryable: false })
    const broken = createBuiltInEmbedder(path.join(folder, 'missing'), folder)
    clients.push(broken)
    await expect(broken.embed(['text'])).rejects.toMatchObject({ type: 'model_error', retryable: true })
  })
})

test('a question is embedded before the texts of files, which take turns', () => {
  const queue = createQueue()
  const request = (...texts: string[]) => ({ texts, vectors: [], tokens: 0 })
  const [first, second, question] = [request('a', 'b'), request('c', 'd'), request('?')]
  for (const each of [first, second, question]) queue.add(each)
  expect(queue.next()).toBe(question)
  queue.remove((each) => each === question)
  expect([queue.next(), queue.next(), queue.next()]).toEqual([first, second, first])
  queue.remove(() => true)
  expect(queue.isEmpty()).toBe(true)
  expect(queue.next()).toBeUndefined()
})

test('of all ways to cut a text into tokens that with the best sum of scores is taken', () => {
  const pieces = ['?', '▁', '▁a', 'b', 'ab', '▁ab', 'c']
  const scores = Float32Array.from([0, -5, -3, -3, -1, -9, -2])
  const tokensOf = createTokenizer({ pieces, scores, begin: 0, end: 0, unknown: 0, replaced: new Map([[0x41, 'a']]) })
  const named = (text: string) => tokensOf(text).map((token) => pieces[token])
  expect(named('abc')).toEqual(['▁', 'ab', 'c'])
  expect(named('A  c')).toEqual(['▁a', '▁', 'c'])
  expect(named('𝄞c')).toEqual(['▁', '?', 'c'])
})

test('messages are written as Protocol Buffers writes them', () => {
  const message = encodeMessage([
    [1, 300],
    [2, 'hi'],
    [3, { fields: [[1, 1]] }],
    [4, { float: 1 }],
  ])
  expect(message.toString('hex')).toBe('08ac02' + '12026869' + '1a020801' + '250000803f')
})
