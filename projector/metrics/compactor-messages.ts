export type ThreadData = { databaseUrl: string; searchPath: string }
/** A log line of the thread, written by the main thread. */
export type Said = { level: 'warn' | 'error'; fields: object; message: string }
