import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../local/services/command.ts'
import { useModelService } from '../support/model-service.ts'
import { openaiSuite, outcomesOf } from '../support/openai-suite.ts'
import { installTimeoutMs, pythonCompiled } from '../support/python-packages.ts'
import { startPlaceholderProxy } from './frameworks/placeholder-proxy.ts'
import { v1Client } from './v1-client.ts'

/** Of the suite's folder `tests/api_resources`: what `/v1` has. */
const files = [
  'test_files.py',
  'test_uploads.py',
  'uploads',
  'test_vector_stores.py',
  'vector_stores',
  'test_models.py',
  'test_embeddings.py',
  'chat',
  'test_responses.py',
  'responses',
  'test_conversations.py',
  'conversations',
  'test_containers.py',
  'containers/test_files.py',
  'beta/test_assistants.py',
  'beta/test_threads.py',
  'beta/threads',
]
/** Every method once, with answers that are checked against the types of the client. */
const chosen = 'strict and not Async and test_method'

/**
 * The tests that the official Python client is developed with. They are written for a server that invents answers from
 * the description of the interface; a proxy puts ids of real objects in the places of made-up ones. A test that passes
 * proves that the client takes the answer as what its types say. `python-suite.json` has those that fail, with how.
 */
describe("the official Python client's own tests against /v1", () => {
  const service = useModelService({
    env: { EMBEDDING_DIMENSIONS: '64', OUTBOUND_ALLOW: '127.0.0.1' },
    respond: () => ({ text: 'Hello' }),
  })
  let proxy: Awaited<ReturnType<typeof startPlaceholderProxy>>
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'python-suite-'))
    const { client } = await v1Client(service)
    // Their models are vendors' names; here they are assistants of these names.
    for (const name of ['gpt-6-astra', 'gpt-4.1', 'gpt-5', 'model'])
      await client.beta.assistants.create({ model: 'scripted', name })
    proxy = await startPlaceholderProxy(service.url, client)
  })
  afterAll(async () => {
    await proxy.close()
    await rm(folder, { recursive: true, force: true })
  })

  it(
    'pass, except for those that are listed',
    async () => {
      const suite = await openaiSuite()
      const report = path.join(folder, 'report.xml')
      // It ends with an error when tests fail.
      await run(
        suite.python,
        [
          '-m',
          'pytest',
          '-o',
          'addopts=',
          '-o',
          'asyncio_mode=auto',
          '-p',
          'no:cacheprovider',
          '-q',
          '-k',
          chosen,
          `--junitxml=${report}`,
          ...files.map((file) => path.join('tests', 'api_resources', file)),
        ],
        {
          cwd: suite.folder,
          env: {
            PATH: process.env['PATH'],
            HOME: process.env['HOME'],
            TEST_API_BASE_URL: `${proxy.url}/v1`,
            ...pythonCompiled,
          },
          timeoutMs: 600_000,
        },
      ).catch(() => undefined)
      const outcomes = outcomesOf(await readFile(report, 'utf8'))
      const failed = Object.fromEntries(
        [...outcomes].filter(([, outcome]) => outcome !== undefined).toSorted(([a], [b]) => a.localeCompare(b)),
      )
      const list = path.join(import.meta.dirname, 'python-suite.json')
      if (process.env['UPDATE_SUITE']) await writeFile(list, `${JSON.stringify(failed, undefined, 2)}\n`)
      const listed: unknown = JSON.parse(await readFile(list, 'utf8'))
      expect(failed).toEqual(listed)
      expect(outcomes.size).toBeGreaterThan(100)
    },
    installTimeoutMs + 700_000,
  )
})
