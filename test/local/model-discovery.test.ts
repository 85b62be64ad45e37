import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFoundServers, foundServersText } from '../../infra/model/found-servers.ts'
import { findModelServers, wantsDiscovery } from '../../local/model-discovery.ts'
import { sendJson, startHttpServer } from '../support/http-server.ts'

describe('the search for model servers on this machine', () => {
  const answers: Record<string, (response: Parameters<typeof sendJson>[0]) => void> = {
    good: (response) =>
      sendJson(response, 200, { data: [{ id: 'nomic-embed-text' }, { id: 'llama3.2', max_model_len: 8192 }] }),
    page: (response) => response.end('<html>something else</html>'),
    locked: (response) => sendJson(response, 401, { error: 'no key' }),
    empty: (response) => sendJson(response, 200, { data: [] }),
    endless: (response) => {
      const pump = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', pump)
      }
      pump()
    },
    silent: () => {},
    elsewhere: (response) => response.writeHead(302, { location: '/good/models' }).end(),
  }
  let server: Awaited<ReturnType<typeof startHttpServer>>
  beforeAll(async () => {
    server = await startHttpServer((request, response) => answers[request.url?.split('/')[1] ?? '']?.(response))
  })
  afterAll(() => server.close())

  it('takes those that list models, and waits for no other', async () => {
    const addresses = Object.keys(answers).map((name) => `${server.url}/${name}`)
    const found = await findModelServers({ MODEL_DISCOVERY: [...addresses, 'no address'].join(', ') }, 1)
    expect(found).toEqual([
      {
        name: `127.0.0.1:${server.port}`,
        baseUrl: `${server.url}/good`,
        models: [
          { id: 'nomic-embed-text', contextTokens: undefined },
          { id: 'llama3.2', contextTokens: 8192 },
        ],
      },
    ])
    expect(readFoundServers(foundServersText(found))).toEqual(found)
  })

  it('leaves out its own port', async () => {
    expect(await findModelServers({ MODEL_DISCOVERY: `${server.url}/good` }, server.port)).toEqual([])
  })

  it('is not made when a model is named, or when it is turned off', () => {
    expect(wantsDiscovery({})).toBe(true)
    for (const env of [
      { OPENAI_API_KEY: 'k' },
      { OPENAI_BASE_URL: 'u' },
      { MODELS_FILE: 'f' },
      { MODEL_DISCOVERY: 'Off' },
    ])
      expect(wantsDiscovery(env)).toBe(false)
  })
})
