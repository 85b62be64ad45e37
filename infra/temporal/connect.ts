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

/** A client whose calls end after ten seconds, so that a dead server gives an error and not a hanging request. */
export async function connectTemporal(settings: TemporalSettings) {
  const connection = await Connection.connect({ ...connectionOptions(settings), connectTimeout: '10s' })
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
