import { beforeAll, describe, expect, it } from 'vitest'
import { pythonWithClients, runPython } from '../support/python-clients.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const text = 'The office is open from nine to five. On Fridays the office closes at three.'
const embeddingModel = 'text-embedding-3-small'

describe('the Python client at /v1, with address and key only', () => {
  const service = useSharedService()
  let python: string

  beforeAll(async () => {
    python = await pythonWithClients()
  }, installTimeoutMs)

  it('uses models, embeddings, files, uploads, vector stores and assistants', async () => {
    const owner = await insertUser(service)
    const { jwt_token: key } = await owner.get(`/projects/${owner.projectId}`)
    const printed = await runPython(python, 'test/v1/python.py', {
      V1_BASE_URL: `${service.url}/v1`,
      V1_KEY: String(key),
      V1_EMBEDDING_MODEL: embeddingModel,
    })
    expect(JSON.parse(printed)).toMatchObject({
      models: [embeddingModel, service.settings.defaultModel],
      model: embeddingModel,
      embeddings: [16, 16],
      same_embedding: true,
      file: { object: 'file', filename: 'hours.txt', bytes: text.length, status: 'processed' },
      content: text,
      files: ['hours.txt'],
      upload: { status: 'completed', bytes: 2000, purpose: 'user_data' },
      upload_content: 'aabb',
      store: { metadata: { team: 'blue' }, days: 7, status: 'completed' },
      added: { status: 'completed', attributes: { year: 2026 } },
      batch: { completed: 1, total: 1, failed: 0, in_progress: 0, cancelled: 0 },
      counts: { completed: 2, total: 2 },
      found: [['hours.txt', { year: 2026 }, text]],
      chunks: [text],
      assistant: {
        name: 'Helper',
        description: 'Helps',
        top_p: 0.5,
        metadata: { kind: 'test' },
        tools: [{ type: 'file_search' }, { type: 'function', function: { name: 'weather' } }],
      },
      store_of_assistant: true,
      paged: ['Helper', 'Second'],
      refused: [
        { type: 'BadRequestError', status: 400, code: 'missing_required_parameter', param: 'tools[0].function' },
        { type: 'NotFoundError', status: 404, code: 'not_found' },
        { type: 'BadRequestError', status: 400 },
        { type: 'AuthenticationError', status: 401, code: 'invalid_api_key' },
      ],
      deleted: [true, true, true, true],
    })
  }, 180_000)
})
