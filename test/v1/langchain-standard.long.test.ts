import path from 'node:path'
import { expect, it } from 'vitest'
import { pythonLangchainTests } from '../support/framework-packages.ts'
import { useModelService } from '../support/model-service.ts'
import { runPytest } from '../support/pytest.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { oblige } from './frameworks/obliging-model.ts'
import { v1Client } from './v1-client.ts'

const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '64' }, respond: oblige })

/** Three times the tests of a chat model, once those of embeddings; some need abilities that OpenAI's models lack. */
const least = 120

it(
  "LangChain's standard tests pass, with both interfaces and embeddings",
  async () => {
    const { client } = await v1Client(service)
    const python = path.join(await pythonLangchainTests(), 'python')
    const outcome = await runPytest(python, {
      folder: path.join(import.meta.dirname, 'langchain-standard'),
      // One loop for all tests: the package keeps its connections.
      args: ['-o', 'asyncio_mode=auto', '-o', 'asyncio_default_test_loop_scope=session'],
      env: {
        BASE_URL: client.baseURL,
        KEY: client.apiKey ?? '',
        MODEL: 'scripted',
        EMBEDDING_MODEL: 'text-embedding-3-small',
      },
      timeoutMs: 600_000,
    })
    expect(outcome.failed).toEqual([])
    expect(outcome.passed).toBeGreaterThan(least)
  },
  installTimeoutMs + 700_000,
)
