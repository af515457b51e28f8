/** Schemas of the read models: the live ones, those that a rebuild fills, and those that it has replaced. */
export const live = 'read'
export const next = 'read_next'
export const old = 'read_old'
