import mongoose from 'mongoose'
import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
} from '@redis/client'

const { MongoNetworkError, MongoNotConnectedError, MongoServerSelectionError, MongoTopologyClosedError } =
  mongoose.mongo

const errorClasses = [
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  mongoose.Error.MongooseServerSelectionError,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
]

/** Whether an error of the database or of Redis says that the server is away, not that the request was wrong. */
export function isAway(error: unknown): boolean {
  if (errorClasses.some((known) => error instanceof known)) return true
  // The driver of the database passes on what it meets when it writes to a connection that has just been cut.
  if (error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET')) return true
  // A server that is stepping down or shutting down, by the driver's own list of codes.
  return error instanceof mongoose.mongo.MongoServerError && error.hasErrorLabel('RetryableWriteError')
}
