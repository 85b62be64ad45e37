import pino, { type DestinationStream } from 'pino'

/**
 * Writes JSON lines, to standard output by default. Members that could contain a secret are redacted at any depth.
 */
export function createLogger(name: string, level: string, destination: DestinationStream = pino.destination(1)) {
  const options = {
    name,
    level,
    redact: {
      paths: [
        'authorization',
        'headers.authorization',
        'password',
        'token',
        'api_key',
        '*.password',
        '*.token',
        '*.api_key',
        '*.authorization',
      ],
      censor: '[hidden]',
    },
    serializers: { err: pino.stdSerializers.errWithCause },
  }
  return pino(options, destination)
}

export type Logger = ReturnType<typeof createLogger>
