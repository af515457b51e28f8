import type { CSSProperties } from 'react'
import { useWords } from '../../words/words.ts'
import { columnWords } from '../runs/column-words.ts'
import { titleOf } from '../runs/use-title.ts'
import { nameWidth, stateWidth, widthOf } from './columns.ts'

/** The widths of the columns, and the least width of a row. */
export function useGrid(columns: readonly string[]): CSSProperties {
  const say = useWords(columnWords)
  const widths = columns.map(column => widthOf(column, titleOf(column, say)))
  const grid = [
    `minmax(${nameWidth}rem, 1fr)`,
    `${stateWidth}rem`,
    ...widths.map(one => `${one}rem`),
  ]
  const least = widths.reduce((sum, one) => sum + one, nameWidth + stateWidth)
  return { '--grid': grid.join(' '), '--least': `${least}rem` } as CSSProperties
}
