import { existsSync } from 'node:fs'
import { prepareTemporal } from './services/temporal.ts'

/**
 * Started by the bootstrap beside the installation of the packages, of which it uses none: to build Temporal takes
 * three times as long. The script that needs it finds it in the cache, or waits for it, and says what failed.
 */
process.on('disconnect', () => process.exit(1))
if (existsSync('.env')) process.loadEnvFile('.env')
if (!process.env['TEMPORAL_ADDRESS']) {
  await prepareTemporal((line) => console.log(`> ${line}`)).catch(() => undefined)
}
process.exit(0)
