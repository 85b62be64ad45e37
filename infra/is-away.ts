import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
} from '@redis/client'

/**
 * Errors of MongoDB's driver that say that the server is away. By name, because the driver does not
 * export all of their classes (https://github.com/mongodb/specifications: server discovery, connection pools).
 */
const databaseErrors = new Set([
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

/** A server that is stepping down or shutting down, by the driver's own list of codes. */
const databaseLabels = ['RetryableWriteError', 'TransientTransactionError', 'ResumableChangeStreamError']

const redisErrors = [
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
]

const systemCodes = new Set([
  // What drivers pass on when they write to a connection that has just been cut.
  'EPIPE',
  'ECONNRESET',
  // The machine has run out of something: disk space, file handles, memory, processes.
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
])

/**
 * Whether an error says that something which the service needs is away for now: a server, or room on
 * the machine. False where the server answered that the request was wrong.
 */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (databaseErrors.has(error.name) || redisErrors.some((known) => error instanceof known)) return true
  if ('code' in error && typeof error.code === 'string' && systemCodes.has(error.code)) return true
  const labels: unknown = 'errorLabels' in error ? error.errorLabels : undefined
  return Array.isArray(labels) && databaseLabels.some((label) => labels.includes(label))
}
