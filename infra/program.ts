import { existsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import closeWithGrace from 'close-with-grace'
import { type Settings, SettingsError, loadSettings } from './config.ts'
import { type Logger, createLogger } from './logger.ts'

/** A running API or worker. `finished` rejects when something fails without which it cannot go on. */
interface Service {
  close: () => Promise<void>
  finished: Promise<unknown>
}

interface ProgramOptions {
  /** Variables that win over the environment. */
  variables?: Record<string, string>
  /** A line below the message about missing or wrong settings. */
  settingsHint?: string
}

/**
 * Runs a program with the settings of its environment and of `.env`. If it fails, its standard error has a message
 * instead of a stack trace, and its status is 1.
 */
export async function runProgram(
  main: (settings: Settings) => Promise<void>,
  { variables, settingsHint }: ProgramOptions = {},
): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  try {
    await main(loadSettings({ ...process.env, ...variables }))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    if (error instanceof SettingsError && settingsHint !== undefined) console.error(settingsHint)
    process.exit(1)
  }
}

/** Runs a process of the service until it is told to stop or fails; `start` logs what it serves. */
export function runService(
  name: 'api' | 'worker',
  start: (settings: Settings, logger: Logger) => Promise<Service>,
): Promise<void> {
  return runProgram(async (settings) => {
    const logger = createLogger(name, settings.logLevel)
    for (const warning of settings.warnings) logger.warn(warning)
    const service = await start(settings, logger)
    // With NODE_COMPILE_CACHE, the next start finds the compiled code, also after a crash.
    flushCompileCache()
    const grace = closeWithGrace({ delay: (settings.shutdownGraceSeconds + 10) * 1000, logger }, async ({ err }) => {
      if (err) logger.error({ err }, 'stopping after an unexpected error')
      await service.close()
    })
    service.finished.catch((error: unknown) => {
      logger.fatal({ err: error }, 'a worker of this process failed')
      grace.uninstall()
      process.exit(1)
    })
  })
}
