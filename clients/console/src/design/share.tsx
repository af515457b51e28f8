/** A part of a whole, as a bar. */
export const Share = ({ part, whole, label }: { part: number; whole: number; label: string }) => (
  <meter
    min={0}
    max={Math.max(whole, Number.MIN_VALUE)}
    value={Math.max(0, part)}
    aria-label={label}
  />
)
