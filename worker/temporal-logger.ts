import type { LogLevel, LogMetadata } from '@temporalio/worker'
import type { Logger } from '../infra/logger.ts'

const levels = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>

/** Writes Temporal's log lines to our log. Its `info` becomes `debug`, because workers log a lot when they start. */
export function temporalLogger(logger: Logger) {
  const log = (level: LogLevel, message: string, meta: LogMetadata = {}) => {
    const { error, ...rest } = meta
    logger[levels[level]]({ ...rest, ...(error === undefined ? {} : { err: error }) }, message)
  }
  return {
    log,
    trace: (message: string, meta?: LogMetadata) => log('TRACE', message, meta),
    debug: (message: string, meta?: LogMetadata) => log('DEBUG', message, meta),
    info: (message: string, meta?: LogMetadata) => log('INFO', message, meta),
    warn: (message: string, meta?: LogMetadata) => log('WARN', message, meta),
    error: (message: string, meta?: LogMetadata) => log('ERROR', message, meta),
  }
}
