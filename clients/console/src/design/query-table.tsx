import type { ComponentProps, ReactNode } from 'react'
import { ShownRows } from './notice.tsx'
import { Table } from './table.tsx'

type Props<Row> = Omit<ComponentProps<typeof Table<Row>>, 'rows'> & {
  of: ComponentProps<typeof ShownRows<Row>>['of']
  /** Shown instead of a table without rows. */
  none?: ReactNode
}

/** The rows that a query reads, as a table: it shows that they are loading, why they could not be read, or `none`. */
export const QueryTable = <Row,>({ of, none, ...table }: Props<Row>) => (
  <ShownRows of={of} none={none ?? <Table {...table} rows={[]} />}>
    {rows => <Table {...table} rows={rows} />}
  </ShownRows>
)
