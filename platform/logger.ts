import { type DestinationStream, type Logger, pino } from 'pino'

/** JSON lines on a pipe, readable lines on a terminal; secrets are redacted. Default destination: standard output. */
export function createLogger(level: string, pretty: boolean, to?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: {
      paths: ['password', 'token', '*.password', '*.token', 'headers.authorization'],
      censor: '[redacted]',
    },
  }
  if (!pretty) return to ? pino(options, to) : pino(options)
  return pino({
    ...options,
    transport: {
      target: 'pino-pretty',
      options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss' },
    },
  })
}
