import pino from 'pino'

/** JSON lines on standard output. Members that could hold a secret are blanked wherever they turn up. */
export function createLogger(name: string, level: string) {
  return pino({
    name,
    level,
    redact: {
      paths: ['authorization', 'headers.authorization', 'password', 'token', 'api_key', '*.password', '*.token', '*.api_key', '*.authorization'],
      censor: '[hidden]',
    },
    serializers: { err: pino.stdSerializers.errWithCause },
  })
}

export type Logger = ReturnType<typeof createLogger>
