/** How the lines of something are drawn. */
export type Stroke = {
  /** A token of tokens.css. */
  token: string
  /** Lengths of dashes and gaps, in pixels of the page; empty: a whole line. */
  dash: readonly number[]
}

const curves = 20
const dashes: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [8, 3, 2, 3]]

/** The stroke of a run everywhere and forever: by the number in its short id, so that it depends on no list. */
export function strokeOfRun(shortId: string): Stroke {
  return strokeAt(Number(/-(\d+)$/.exec(shortId)?.[1] ?? 1) - 1)
}

/** The stroke of the nth of things, from 0: once the colours are used up, they come again with other dashes. */
export const strokeAt = (nth: number): Stroke => ({
  token: `curve-${(nth % curves) + 1}`,
  dash: dashes[Math.floor(nth / curves) % dashes.length] ?? [],
})
