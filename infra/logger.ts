import pino, { type DestinationStream } from 'pino'

/** JSON lines, on standard output unless told otherwise. Members that could hold a secret are blanked wherever they turn up. */
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
