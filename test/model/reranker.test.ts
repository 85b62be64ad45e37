import { expect, it } from 'vitest'
import { createReranker } from '../../infra/model/reranker.ts'

const answering = (answer: unknown, status = 200) => {
  const problems: unknown[] = []
  const requests: { url: string; body: unknown; authorization: string | null }[] = []
  const reranker = createReranker({
    baseUrl: 'http://rerank.test/v1/',
    apiKey: 'secret',
    model: 'small',
    fetch: async (url, init) => {
      const authorization = new Headers(init?.headers).get('authorization')
      const body: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : '')
      requests.push({ url: url instanceof Request ? url.url : url.toString(), body, authorization })
      return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer), { status })
    },
    onError: (error) => problems.push(error),
  })
  return { reranker, problems, requests }
}

const results = (...scores: number[]) => ({
  results: scores.map((relevance_score, index) => ({ index, relevance_score })).toReversed(),
})

it('asks a server for reranking in the usual form, and takes its scores in any order', async () => {
  const { reranker, requests } = answering(results(0.2, 0.9))
  expect(await reranker.rerank('why?', ['a', 'b'])).toEqual([0.2, 0.9])
  const body = { model: 'small', query: 'why?', documents: ['a', 'b'] }
  expect(requests).toEqual([{ url: 'http://rerank.test/v1/rerank', body, authorization: 'Bearer secret' }])
  const [low = 1, high = 0] = (await answering(results(-4, 2)).reranker.rerank('why?', ['a', 'b'])) ?? []
  expect(low).toBeCloseTo(0.018, 3)
  expect(high).toBeCloseTo(0.881, 3)
})

it('asks a server that refuses the usual form in that of text-embeddings-inference, and then at once', async () => {
  const bodies: string[] = []
  const reranker = createReranker({
    baseUrl: 'http://rerank.test',
    apiKey: undefined,
    model: undefined,
    fetch: async (_url, init) => {
      bodies.push(typeof init?.body === 'string' ? init.body : '')
      if (!bodies.at(-1)?.includes('"texts"')) return new Response('missing field `texts`', { status: 422 })
      return Response.json([
        { index: 1, score: 0.9 },
        { index: 0, score: 0.2 },
      ])
    },
    onError: (error) => expect.unreachable(String(error)),
  })
  expect(await reranker.rerank('why?', ['a', 'b'])).toEqual([0.2, 0.9])
  expect(await reranker.rerank('why?', ['a', 'b'])).toEqual([0.2, 0.9])
  expect(bodies.map((body) => JSON.parse(body))).toEqual([
    { query: 'why?', documents: ['a', 'b'] },
    { query: 'why?', texts: ['a', 'b'], truncate: true },
    { query: 'why?', texts: ['a', 'b'], truncate: true },
  ])
})

it.each([
  ['fails', results(1, 1), 503],
  ['sends no JSON', '<html>', 200],
  ['forgets a text', results(1), 200],
  ['sends something else', { results: [null, { index: 'x' }] }, 200],
  ['sends too much', ' '.repeat(5 * 1024 * 1024), 200],
])('leaves the order as it is when the server %s', async (_name, answer, status) => {
  const { reranker, problems } = answering(answer, status)
  expect(await reranker.rerank('why?', ['a', 'b'])).toBeUndefined()
  expect(problems).toHaveLength(1)
})
