import type { Settings } from '../config.ts'
import { type Database, connectDatabase } from './connect.ts'

/** The database connection of jobs whose statements have no time limit: migrations, backup and restore. */
export function connectForMaintenance({
  mongodbUri,
  mongodbTls: tls,
  dependencyTimeoutSeconds,
}: Pick<Settings, 'mongodbUri' | 'mongodbTls' | 'dependencyTimeoutSeconds'>): Promise<Database> {
  return connectDatabase(mongodbUri, { tls, timeoutMs: dependencyTimeoutSeconds * 1000, hasLongStatements: true })
}
