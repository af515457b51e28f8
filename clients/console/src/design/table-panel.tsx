import type { ComponentProps } from 'react'
import type { Pages } from '../session/use-pages.ts'
import { More } from './more.tsx'
import { Panel } from './panel.tsx'
import { QueryTable } from './query-table.tsx'

type Props<Row> = Omit<ComponentProps<typeof QueryTable<Row>>, 'caption' | 'of'> & {
  title: string
  of: Pages<Row>
}

/** A part of a page with one table, which may continue. */
export const TablePanel = <Row,>({ title, of, ...table }: Props<Row>) => (
  <Panel title={title}>
    <QueryTable {...{ of, ...table }} caption={title} />
    <More of={of} what={title} />
  </Panel>
)
