/** `1 GPU`, `2 GPUs`. */
export const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`

/** Appends a reason, if any, to a sentence. */
export const because = (message: string | null): string => (message === null ? '' : `: ${message}`)

export const marksOf = ({ starred, archived }: { starred: boolean; archived: boolean }): string =>
  `${starred ? 'starred' : 'not starred'}, ${archived ? 'archived' : 'not archived'}`
