import { Client, Connection, type ConnectionLike, type TLSConfig } from '@temporalio/client'
import type { Settings } from '../config.ts'
import { dataConverterFor } from './data-converter.ts'

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
  const connection = await Connection.connect({ ...connectionOptions(settings), connectTimeout: '10s', channelArgs })
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
    close: () => connection.close(),
  }
}
