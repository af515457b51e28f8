/** Schemas of the read models: live, being filled by a rebuild, and replaced by one. */
export const live = 'read'
export const next = 'read_next'
export const old = 'read_old'
