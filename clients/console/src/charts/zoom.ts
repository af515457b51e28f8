export type Range = { from: number; to: number } | null

type View = { from: number; to: number; at: number }

/** The range with `at` where it was, and everything else `factor` times as far from it. */
export const zoomedBy = ({ from, to, at }: View, factor: number): NonNullable<Range> => ({
  from: at - (at - from) * factor,
  to: at + (to - at) * factor,
})
