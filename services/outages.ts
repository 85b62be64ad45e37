/**
 * Errors of MongoDB's driver that say that the database is away, not that it refused something
 * (https://github.com/mongodb/specifications, server discovery, connection pools, retryable writes).
 */
const databaseIsAway = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongooseServerSelectionError',
  'MongoNotConnectedError',
  'MongoPoolClearedError',
  'MongoPoolClearedOnNetworkError',
  'PoolClearedOnNetworkError',
  'MongoPoolClosedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
])
const databaseMayComeBack = ['RetryableWriteError', 'TransientTransactionError', 'ResumableChangeStreamError']

/** The machine has run out of something: disk space, file handles, memory, processes. */
const machineIsFull = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])

/** Whether an error tells of something that the service needs and that is away for now. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (databaseIsAway.has(error.name)) return true
  if ('code' in error && typeof error.code === 'string' && machineIsFull.has(error.code)) return true
  const labels: unknown = 'errorLabels' in error ? error.errorLabels : undefined
  return Array.isArray(labels) && databaseMayComeBack.some((label) => labels.includes(label))
}
