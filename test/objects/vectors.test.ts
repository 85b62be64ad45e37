import { expect, it } from 'vitest'
import { createVectorStore } from '../../infra/vectors/index.ts'
import { startHttpServer } from '../support/http-server.ts'
import { listOf, testKey } from '../support/object-location.ts'

const settings = {
  vectorStore: 'lancedb' as const,
  dataDir: '/nowhere',
  pineconeApiKey: undefined,
  pineconeIndex: undefined,
  pineconeHost: undefined,
  qdrantUrl: undefined,
  qdrantApiKey: undefined,
  qdrantCollection: 'none',
  s3AccessKeyId: testKey.accessKeyId,
  s3SecretAccessKey: testKey.secretAccessKey,
}

it('an object store that ignores conditions is refused for vectors', async () => {
  const server = await startHttpServer((request, response) => {
    request.resume()
    response.end(listOf(request.url))
  })
  const vectors = createVectorStore({ ...settings, lancedbUri: `s3://bucket/v?endpoint=${server.url}` })
  const record = { id: 'a', fileId: 'f', position: 0, text: 'text', vector: [1, 0] }
  await expect(vectors.upsert('a', [record])).rejects.toThrow('ignores conditional writes (If-None-Match)')
  await vectors.close()
  await server.close()
})

it('LANCEDB_URI needs a key for a bucket, and takes no other object store', () => {
  const make = (given: object) => () => createVectorStore({ ...settings, lancedbUri: 's3://bucket', ...given })
  expect(make({ lancedbUri: 'gs://bucket/v' })).toThrow('must begin with s3://')
  expect(make({ s3AccessKeyId: undefined })).toThrow('set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
})
