export type ThreadData = {
  databaseUrl: string
  searchPath: string
  /** The thread ends after as many passes in a row that found nothing; by default after half a minute of them. */
  idlePasses?: number
}
/** A log line of the thread, written by the main thread. */
export type Said = { level: 'warn' | 'error'; fields: object; message: string }
