import { type DestinationStream, type Logger, pino } from 'pino'
import { logOutput } from './log-output.ts'

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
  // A worker thread's standard output has no descriptor of its own.
  if (!pretty) return pino(options, to ?? logOutput(process.stdout.fd ?? 1))
  return pino({
    ...options,
    transport: {
      target: 'pino-pretty',
      options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss' },
    },
  })
}
