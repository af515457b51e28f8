/** What of the log is asked for, as the API names it. */
export const filterNames = ['grep', 'rank', 'node', 'stream', 'attempt'] as const

export type Filter = { [N in (typeof filterNames)[number]]?: string }
