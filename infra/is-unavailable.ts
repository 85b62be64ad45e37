import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
} from 'redis'
import { isUnavailableReply } from './redis/redirection.ts'

/**
 * Errors of MongoDB's driver that mean that the server is unreachable. By name, because the driver does not export
 * all of their classes (https://github.com/mongodb/specifications: server discovery, connection pools).
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
  SocketTimeoutError,
]

const systemCodes = new Set([
  // What drivers report when they write to a connection that has just been closed.
  'EPIPE',
  'ECONNRESET',
  // The machine is out of disk space, file handles, memory or processes.
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
])

/**
 * Whether an error means that something which the service needs is unavailable for now: a server, or a resource of
 * the machine. False if the server answered that the request was wrong.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // A write of many records fails with an error of its own, which holds the cause.
  if ('errorResponse' in error && error.errorResponse instanceof Error) return isUnavailable(error.errorResponse)
  if (databaseErrors.has(error.name) || redisErrors.some((known) => error instanceof known)) return true
  if (error instanceof ErrorReply && isUnavailableReply(error)) return true
  if ('code' in error && typeof error.code === 'string' && systemCodes.has(error.code)) return true
  const labels: unknown = 'errorLabels' in error ? error.errorLabels : undefined
  return Array.isArray(labels) && databaseLabels.some((label) => labels.includes(label))
}
