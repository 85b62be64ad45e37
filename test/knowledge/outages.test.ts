import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import mongoose from 'mongoose'
import { describe, expect, it } from 'vitest'
import { createDocumentActivities } from '../../activities/documents/index.ts'
import { outageTypes, readerFailedType } from '../../domain/contracts/ingestion.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { isUnavailable } from '../../infra/is-unavailable.ts'

const { MongoBulkWriteError, MongoNetworkError, MongoServerError, MongoServerSelectionError } = mongoose.mongo

/** What Temporal is told when the first thing that a step does throws `error`. */
async function failureOf(error: Error): Promise<ApplicationFailure> {
  const rejecting = () => ({ lean: () => Promise.reject(error) })
  const deps = {
    isUnavailable,
    collections: { files: { findById: rejecting, findOneAndUpdate: rejecting } },
    embedder: {},
  }
  const { embedFile } = createDocumentActivities(deps as never)
  const failure: unknown = await new MockActivityEnvironment()
    .run(embedFile, { fileId: 'f', assistantId: 'a' })
    .catch((thrown: unknown) => thrown)
  if (!(failure instanceof ApplicationFailure)) throw new Error('no failure', { cause: failure })
  return failure
}

const errorWith = (members: object) => Object.assign(new Error('an error'), members)
const notPrimary = new MongoServerError({ message: 'not primary', code: 10107 })
notPrimary.addErrorLabel('RetryableWriteError')

describe('a step of an ingestion', () => {
  it.each([
    ['the connection to the database broke', new MongoNetworkError('connection reset')],
    [
      'the connection broke under a write of many records',
      new MongoBulkWriteError(new MongoNetworkError('connection closed'), {} as never),
    ],
    ['no database was found', new MongoServerSelectionError('timed out', {} as never)],
    ['the database has no primary', notPrimary],
    ['the pool of connections was cleared', errorWith({ name: 'MongoPoolClearedError' })],
    ['a connection was cut', errorWith({ code: 'EPIPE' })],
    ['the disk is full', errorWith({ code: 'ENOSPC' })],
    ['the model is busy', new ModelFailure('Busy.', { statusCode: 429, type: 'model_busy', retryable: true })],
  ])('reports an outage when %s', async (_what, error) => {
    const { type, nonRetryable, message } = await failureOf(error)
    expect(outageTypes).toContain(type)
    expect(nonRetryable).toBe(false)
    expect(message).not.toMatch(/reset|timed out|primary/)
  })

  it('reports any other error as a failure without details', async () => {
    const refused = new MongoServerError({ message: 'the document is too large', code: 10334 })
    for (const error of [refused, new TypeError('undefined is not a function')]) {
      const { type, message } = await failureOf(error)
      expect(type).toBe('internal')
      expect(message).toMatch(/^unexpected failure/)
    }
  })

  it('lets the workflow decide whether a file whose reader died is read again', async () => {
    const died = await failureOf(new UnreadableFile('crashed', 'The reader died.'))
    expect(died).toMatchObject({ type: readerFailedType, nonRetryable: true, message: 'The reader died.' })
  })
})
