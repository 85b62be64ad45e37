import { setTimeout as pause } from 'node:timers/promises'
import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  type TLSConfig,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client'
import type { Settings } from '../config.ts'
import { dataConverterFor } from './data-converter.ts'
import { callSignal } from './patient-calls.ts'

type TemporalSettings = Pick<
  Settings,
  | 'temporalAddress'
  | 'temporalNamespace'
  | 'temporalTls'
  | 'temporalTlsFiles'
  | 'temporalTlsServerName'
  | 'temporalApiKey'
  | 'temporalCodecKey'
  | 'temporalCodecKeyPrevious'
>

/** Options that the API's connection and the worker's native connection share. */
export function connectionOptions(settings: TemporalSettings) {
  return {
    address: settings.temporalAddress,
    ...tlsOf(settings),
    ...(settings.temporalApiKey ? { apiKey: settings.temporalApiKey } : {}),
  }
}

function tlsOf({ temporalTls, temporalTlsFiles, temporalTlsServerName }: TemporalSettings): { tls?: true | TLSConfig } {
  const { ca, cert, key } = temporalTlsFiles
  if (ca === undefined && cert === undefined && temporalTlsServerName === undefined)
    return temporalTls ? { tls: true } : {}
  return {
    tls: {
      ...(ca === undefined ? {} : { serverRootCACertificate: Buffer.from(ca) }),
      ...(cert === undefined || key === undefined
        ? {}
        : { clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } }),
      ...(temporalTlsServerName === undefined ? {} : { serverNameOverride: temporalTlsServerName }),
    },
  }
}

/** Reconnects within a second or two when the server is back; a silent connection is closed. */
const channelArgs = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 2000,
  'grpc.keepalive_time_ms': 15_000,
  'grpc.keepalive_timeout_ms': 5000,
}

export async function connectTemporal(settings: TemporalSettings) {
  const retries = createRetries()
  const connection = await Connection.connect({
    ...connectionOptions(settings),
    connectTimeout: '10s',
    channelArgs,
    interceptors: [retries.interceptor],
  })
  const clientOf = (way: ConnectionLike) =>
    new Client({
      connection: way,
      namespace: settings.temporalNamespace,
      dataConverter: dataConverterFor(settings),
    })
  let eagerClient: Client | undefined
  return {
    client: clientOf(connection),
    /** The client whose starts can return the first task to this process's own worker, once there is one. */
    eagerClient: () => eagerClient,
    /** `shared`: the connection of this process's own worker. */
    startEagerlyOver: (shared: ConnectionLike) => {
      eagerClient = clientOf(shared)
    },
    ping: async () => {
      await connection.withDeadline(Date.now() + 1000, () => connection.workflowService.getSystemInfo({}))
    },
    close: async () => {
      await retries.end()
      await connection.close()
    },
  }
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]
type AttemptCall = ReturnType<Parameters<Interceptor>[1]>

/** In place of a planned attempt of a call that was given up: nobody waits for its end. */
const noAttempt: AttemptCall = {
  cancelWithStatus: () => undefined,
  getPeer: () => '',
  start: () => undefined,
  sendMessageWithContext: () => undefined,
  sendMessage: () => undefined,
  startRead: () => undefined,
  halfClose: () => undefined,
  getAuthContext: () => null,
}

/**
 * The client's own rules for retries, which can be ended: a retry on a closed connection throws where nobody can catch
 * it, so the connection waits for those that are planned, for at most six seconds. What was given up is not tried again:
 * its caller was told that it is not done.
 */
function createRetries() {
  const { delayFunction, retryableDecider } = defaultGrpcRetryOptions()
  let hasEnded = false
  let lastAt = 0
  const retry = makeGrpcRetryInterceptor({
    retryableDecider: (...failure) => !hasEnded && retryableDecider(...failure),
    delayFunction: (...failure) => {
      const delayMs = delayFunction(...failure)
      lastAt = Math.max(lastAt, performance.now() + delayMs)
      return delayMs
    },
  })
  const interceptor: Interceptor = (options, nextCall) => {
    const signal = callSignal.getStore()
    return retry(options, (ofAttempt) => (signal?.aborted ? noAttempt : nextCall(ofAttempt)))
  }
  return {
    interceptor,
    end: async () => {
      hasEnded = true
      const leftMs = lastAt - performance.now()
      // One more, because timers are not exact.
      if (leftMs > 0) await pause(leftMs + 10)
    },
  }
}
