import { useWords } from '../../words/words.ts'
import { columnWords } from './column-words.ts'
import { type FieldName, hparamOf, metricOf } from './columns.ts'

/** The title of a column. */
export function useTitle(column: string): string {
  const say = useWords(columnWords)
  return titleOf(column, say)
}

export function titleOf(column: string, say: Readonly<Record<FieldName, string>>): string {
  const hparam = hparamOf(column)
  if (hparam !== null) return `hparams.${hparam}`
  const metric = metricOf(column)
  if (metric === null) return say[column as FieldName]
  return metric.of === 'last' ? metric.key : `${metric.of} ${metric.key}`
}
