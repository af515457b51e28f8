import { type EventLog, LogUnavailable } from './event-log.ts'

/** A log that is opened at its first use, and retried after a failure, so that its process can start without it. */
export function openedLater(open: () => Promise<EventLog>): EventLog {
  let opening: Promise<EventLog> | null = null
  let isClosed = false
  const opened = (): Promise<EventLog> => {
    if (isClosed) throw new LogUnavailable('the event log is closed')
    opening ??= open().catch((cause: Error) => {
      opening = null
      throw new LogUnavailable(`the event log cannot be opened: ${cause.message}`, { cause })
    })
    return opening
  }
  return {
    append: async (topic, records) => (await opened()).append(topic, records),
    async *read(topic, partition, from, options) {
      yield* (await opened()).read(topic, partition, from, options)
    },
    end: async topic => (await opened()).end(topic),
    start: async topic => (await opened()).start(topic),
    async close() {
      isClosed = true
      const log = await opening?.catch(() => null)
      await log?.close()
    },
  }
}
