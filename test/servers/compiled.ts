import { join } from 'node:path'

/** Keeps what Node compiled: processes that tests start would compile for longer than they run. */
export const compiled = join(import.meta.dirname, '../../node_modules/.cache/forge/compiled')
