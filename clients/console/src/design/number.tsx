import { shortNumber } from '../words/amounts.ts'

/** Three significant digits; the whole value, after `label` if there is one, on hover. Values that are not finite are text. */
export const Num = ({ value, label }: { value: number | string; label?: string }) => (
  <span title={label === undefined ? String(value) : `${label} ${value}`}>
    {typeof value === 'number' ? shortNumber(value, 3) : value}
  </span>
)
