import { Client, Connection } from '@temporalio/client'
import type { Settings } from '../config.ts'
import { dataConverterFor } from './data-converter.ts'

type TemporalSettings = Pick<
  Settings,
  | 'temporalAddress'
  | 'temporalNamespace'
  | 'temporalTls'
  | 'temporalApiKey'
  | 'temporalCodecKey'
  | 'temporalCodecKeyPrevious'
>

/** Options that the API's connection and the worker's native connection share. */
export function connectionOptions(settings: TemporalSettings) {
  return {
    address: settings.temporalAddress,
    ...(settings.temporalTls ? { tls: true as const } : {}),
    ...(settings.temporalApiKey ? { apiKey: settings.temporalApiKey } : {}),
  }
}

/** A server that is back is noticed soon: its connection is tried again every second or two, and one that is silent is given up. */
const channelArgs = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 2000,
  'grpc.keepalive_time_ms': 15_000,
  'grpc.keepalive_timeout_ms': 5000,
}

export async function connectTemporal(settings: TemporalSettings) {
  const connection = await Connection.connect({ ...connectionOptions(settings), connectTimeout: '10s', channelArgs })
  const client = new Client({
    connection,
    namespace: settings.temporalNamespace,
    dataConverter: dataConverterFor(settings),
  })
  return {
    client,
    ping: async () => {
      await connection.withDeadline(Date.now() + 1000, () => connection.workflowService.getSystemInfo({}))
    },
    close: () => connection.close(),
  }
}
