import { join } from 'node:path'

/** Keeps Node's compiled code: processes that tests start would compile for longer than they run. */
export const compiled = join(import.meta.dirname, '../../node_modules/.cache/forge/compiled')
